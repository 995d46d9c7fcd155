"""The loop from the command line: a model at its fixed point, and variants beside their baseline."""

from collections import Counter
from pathlib import Path

from support.core_model import name_in, programs
from support.server_replies import Asked
from support.small_run import SmallRun, served
from triathlon_runner import loop
from triathlon_runner.records import LoopRecord
from triathlon_runner.store import read_records

SUITE = "loop/core"


def asks_for_words(text: str) -> bool:
    """Whether a question of our built-in prompts, in any of the six forms, asks for a summary."""
    return "Reply with the complete program" not in text


def programmer(asked: Asked) -> str:
    """A model that knows `core`: its own sentence leads it back to the right program."""
    if asks_for_words(asked.prompt):
        return "Write a Python function again."
    return f"```python\n{programs()[name_in(asked.prompt, programs())]}```"


def forgetful(asked: Asked) -> str:
    """Its first program is right, and the one for its own sentence nonsense."""
    said = programmer(asked)
    return "```python\ndef nonsense(): ...```" if "function again." in asked.prompt else said


def records(place: SmallRun, suite: str) -> list[LoopRecord]:
    return list(read_records(place.lines(suite), LoopRecord))


def test_a_model_at_its_fixed_point(tmp_path: Path) -> None:
    """Equal questions of different loops each reach the server, though replies are kept."""
    with served(tmp_path, "runner.loop.test_run:programmer") as place:
        place.expect(f"run --suites {SUITE} --limit 1", 0)
    assert len(place.requests) == 19
    assert len({body["messages"][-1]["content"] for body in place.requests}) == 3
    assert [record.sustained_loops for record in records(place, SUITE)] == [10]


def test_variants_beside_their_baseline(tmp_path: Path) -> None:
    """Each has its own lines and protocol; what two of them ask alike is asked once."""
    with served(tmp_path, "runner.loop.test_run:forgetful") as place:
        place.expect(f"run --suites {SUITE} --limit 1 --variants prompts,temperatures,attacks", 0)
    temperatures = Counter(body["temperature"] for body in place.requests)
    prompts = {body["messages"][-1]["content"] for body in place.requests}
    assert temperatures == {0: 3 + 5 * 1 + 3, 0.2: 3, 0.4: 3, 0.6: 3, 0.8: 3}
    assert len(list(filter(asks_for_words, prompts))) == 6
    names = [SUITE, *(f"{SUITE}@{variant.name}" for variant in loop.VARIANTS)]
    lines = {name: records(place, name) for name in names}
    assert all(len(found) == 1 for found in lines.values())
    assert len({found[0].protocol for found in lines.values()}) == 13
    attacked = [lines[name][0] for name in names if "@attack" in name]
    assert all((record.max_loops, len(record.loops)) == (1, 1) for record in attacked)
    assert len({record.loops[0].prompt for record in (*attacked, *lines[SUITE])}) == 4
