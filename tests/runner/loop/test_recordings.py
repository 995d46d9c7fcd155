"""Stored runs of real models, replayed through the real runner; recordings as odd as others make them."""

import csv
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from support.asl import Interval, asl
from support.loop_fakes import ADD
from support.loop_run import LoopRun
from support.model_server import ModelServer
from support.official_data import official_store
from support.replay_loop import LoopReplay, recording, recordings
from triathlon_runner import loop
from triathlon_runner.datasets import official
from triathlon_runner.loop._prompt import first_prompt, next_prompt, sentence_of
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import LoopRecord, Outcome, Reply
from triathlon_runner.replies import extract_program

ASSERTION = ADD.assertion
RIGHT = "def add(a, b):\n    return a + b"
WRONG = "def add(a, b):\n    return None"

Steps = list[tuple[str, str]]
"""(program, sentence) of each recorded loop."""


def prompt_of(words: str) -> str:
    return f'"""\n{words}\n{ASSERTION}\n"""\n' if words else f'"""\n{ASSERTION}\n"""\n'


def recorded(task_id: str, steps: Steps) -> dict[str, Any]:
    """A task as recordings hold it."""
    return {
        "task_id": task_id,
        "initial_prompt": prompt_of(f"Write a function for {task_id}."),
        "cycles": [{"code_output": program, "summary_output": prompt_of(words)} for program, words in steps],
    }


async def replay(root: Path, tasks: dict[str, Steps]) -> dict[str, LoopRecord]:
    """Runs the tasks against their recording."""
    kept = [recorded(task_id, steps) for task_id, steps in tasks.items()]
    problems = [
        replace(ADD, task_id=task_id, prompt=prompt_of(f"Write a function for {task_id}."))
        for task_id in tasks
    ]
    async with ModelServer(LoopReplay(kept)) as server:
        run = LoopRun(root, server.base_url, problems=problems)
        assert (await run()).exit_code == 0
    return {record.task_id: record for record in run.records()}


def ends(records: dict[str, LoopRecord]) -> dict[str, tuple[int, Outcome]]:
    return {task: (record.sustained_loops, record.outcome) for task, record in records.items()}


@pytest.mark.parametrize(
    "words",
    [
        "Write it.\n\nIt adds:\n\n```python\ndef add(x, y):\n    ...\n```",
        'Write a function with the docstring """Adds.""" and nothing else.',
        "Write a Python function to add {{ numbers }} {% raw %}.",
        "Schreibe eine Funktion, die addiert – «schön» 🎉.",
        "x" * 5000,
    ],
)
async def test_sentences_of_any_kind_come_back_word_for_word(words: str, tmp_path: Path) -> None:
    """Fences, quotes, template signs, other scripts and great length are the model's words like any other."""
    records = await replay(tmp_path, {"t/1": [(RIGHT, words), (RIGHT, "Write it."), (WRONG, "Write it.")]})
    assert ends(records) == {"t/1": (2, Outcome.FAILED)}
    assert records["t/1"].loops[1].prompt == prompt_of(words)


STYLES = {
    "as it is": "{}",
    "fenced": "```python\n{}\n```",
    "without a label": "```\n{}\n```",
    "in prose": "Here is the function:\n\n```python\n{}\n```\n\nIt does what you asked, with `x` in mind.",
    "tildes": "~~~py\n{}\n~~~",
    "thought about": "<think>\n```python\ndef wrong(): ...\n```\n</think>\n```python\n{}\n```",
}
RECORDINGS = ("loop-claude-haiku-3.5", "loop-deepseek-coder-7b-instruct-v1.5", "loop-gpt-3.5-turbo")


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_programs_are_found_however_they_are_said(name: str) -> None:
    """7,708 recorded programs, each said in six ways: what is summarised is what the model wrote.

    One is a whole reply itself, with a block of its own, which ends the block around it.
    """
    names = {problem.task_id: problem.entry_point for problem in official.mbpp_plus(official_store())}
    lost = set()
    for task in recording(name):
        for cycle in task["cycles"]:
            program = cycle["code_output"].strip()
            for style in STYLES.values():
                found = extract_program(
                    Reply(text=style.replace("{}", program)),
                    entry_point=names[task["task_id"]],
                    prompt="",
                    completes=False,
                    as_written=True,
                )
                if found.written.strip() != program:
                    lost.add(program)
    assert len(lost) == (1 if "deepseek" in name else 0)


@pytest.mark.official
@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_sentences_are_found_however_they_are_said(name: str) -> None:
    """The sentence alone, with its assertion, or as the whole docstring: the next prompt is as recorded."""
    for task in recording(name):
        prompt = task["initial_prompt"]
        assertion = "\n".join(line for line in prompt.split("\n") if line.startswith("assert"))
        for cycle in task["cycles"]:
            following = cycle["summary_output"]
            words = (
                following.removeprefix('"""\n').removesuffix('\n"""\n').removesuffix(assertion).rstrip("\n")
            )
            for said in (words, f"{words}\n{assertion}", following):
                assert next_prompt(sentence_of(said, completes=False), assertion) == following


@pytest.mark.official
def test_prompts_are_wrapped_as_in_the_recordings() -> None:
    """All steps of all 83 models: first prompt, wrapped summary, and the line carried from prompt to prompt.

    Only wrapping and carrying can be seen in them: the questions themselves were not recorded.
    """
    problems = {problem.task_id: problem for problem in official.mbpp_plus(official_store())}
    names = sorted(path.name.removesuffix(".json.gz") for path in (recordings() / "loop").glob("*.json.gz"))
    assert len(names) == 83, f"expected the runs of 83 models in {str(recordings() / 'loop')!r}"
    steps = 0
    for name in names:
        for task in recording(f"loop/{name}"):
            problem = problems[task["task_id"]]
            before = first_prompt(problem, None, load_prompts("loop"))
            assert before == task["initial_prompt"]
            for cycle in task["cycles"]:
                carried, after = before.rstrip("\n").split("\n")[-2], cycle["summary_output"]
                words = after.removeprefix('"""\n').removesuffix(f'\n{carried}\n"""\n')
                before = next_prompt(words, problem.assertion, as_written=True)
                assert before == after
                steps += 1
    assert steps == 202_348


async def test_official_suites_execute_what_was_written(tmp_path: Path) -> None:
    """A wrong test behind a right function ends the task there, and an empty summary goes on."""
    steps = [(f"{RIGHT}\n\nassert add(1, 2) == 3", ""), (f"{RIGHT}\n\nassert add(1, 2) == 4", "Write it.")]
    kept = [recorded("t/1", steps)]
    async with ModelServer(LoopReplay(kept)) as server:
        problem = replace(ADD, task_id="t/1", prompt=prompt_of("Write a function for t/1."))
        run = LoopRun(tmp_path, server.base_url, problems=[problem], suite="loop/mbpp-plus")
        assert (await run()).exit_code == 0
    assert ends({record.task_id: record for record in run.records()}) == {"t/1": (1, Outcome.FAILED)}
    assert run.records()[0].loops[1].prompt == f'"""\n\n{ASSERTION}\n"""\n'


ASL_TOLERANCE = 0.02

HAIKU: Final = "loop-claude-haiku-3.5"
DEEPSEEK: Final = "loop-deepseek-coder-7b-instruct-v1.5"
GPT: Final = "loop-gpt-3.5-turbo"
PUBLISHED: Final = {
    HAIKU: "Claude Haiku 3.5",
    DEEPSEEK: "deepseek-coder-7b-instruct-v1.5",
    GPT: "GPT-3.5-Turbo",
}
OTHER_RUN: Final = frozenset({DEEPSEEK})
"""Recordings of another run than the paper's table: their own counts exclude the published ASL."""

DIFFERENT: Final[Mapping[str, frozenset[str]]] = {
    HAIKU: frozenset({"Mbpp/84", "Mbpp/287"}),
    GPT: frozenset({"Mbpp/271"}),
    DEEPSEEK: frozenset({"Mbpp/287"}),
}
"""Tasks that may end otherwise than recorded, because the recorded program is right. The checker of the
recordings left two no memory (`benchmarks/recorded.py loop`): Claude Haiku's for Mbpp/84 is the reference's
own recurrence, with a list of a million numbers; GPT-3.5's for Mbpp/271 sums over such a list. Those for
Mbpp/287 return the exact integer, which EvalPlus refuses."""

FEW: Final = 12
"""Tasks of the short replay."""
HEAVY: Final = frozenset({"Mbpp/162", "Mbpp/274"})
"""Whose recorded programs compute for many seconds: left to the long replay."""


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the references return, executed once for all replays; `TRIATHLON_TEST_KEYS` keeps it."""
    named = os.environ.get("TRIATHLON_TEST_KEYS")
    return Path(named) if named else tmp_path_factory.mktemp("keys")


async def replay_official(tasks: list[dict[str, Any]], root: Path, keys: Path) -> dict[str, LoopRecord]:
    """Runs loop/mbpp-plus against a server that replays these tasks."""
    async with ModelServer(LoopReplay(tasks)) as server:
        run = LoopRun(
            root,
            server.base_url,
            suite="loop/mbpp-plus",
            only={task["task_id"] for task in tasks},
            data=official_store(),
            keys=keys,
            slots=64,
        )
        assert (await run()).exit_code == 0
    return {record.task_id: record for record in run.records()}


@pytest.mark.official
@pytest.mark.parametrize("name", PUBLISHED)
async def test_a_few_recorded_tasks(name: str, tmp_path: Path, keys: Path) -> None:
    """Tasks that sustained 0, 1, 2 … loops end in the replay as they are recorded."""
    by_length: dict[int, list[dict[str, Any]]] = {}
    for task in recording(name):
        if task["task_id"] in HEAVY:
            continue
        by_length.setdefault(task["successful_cycles"], []).append(task)
    tasks = [task for group in by_length.values() for task in group[:2]][:FEW]
    records = await replay_official(tasks, tmp_path, keys)
    recorded = {task["task_id"]: task["successful_cycles"] for task in tasks}
    assert {task_id: record.sustained_loops for task_id, record in records.items()} == recorded


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
async def test_recorded_runs_come_out_as_published(name: str, tmp_path: Path, keys: Path) -> None:
    """Sustained loops agree with the recording but for the tasks named, and ASL with its published value."""
    tasks = recording(name)
    records = await replay_official(tasks, tmp_path, keys)
    recorded = {task["task_id"]: task["successful_cycles"] for task in tasks}
    found = {task_id: record.sustained_loops for task_id, record in records.items()}
    assert found.keys() == recorded.keys()
    different = {task for task, loops in recorded.items() if loops != found[task]}
    assert different <= DIFFERENT[name]
    span, own = asl(list(records.values())), span_of(recorded)
    assert span.low == pytest.approx(own.low, abs=ASL_TOLERANCE)
    assert span.high == pytest.approx(own.high, abs=ASL_TOLERANCE)
    if name not in OTHER_RUN:
        assert span.low - ASL_TOLERANCE < published_asl(PUBLISHED[name]) < span.high + ASL_TOLERANCE


@pytest.mark.official
@pytest.mark.parametrize("name", PUBLISHED)
def test_only_some_recordings_are_the_published_run(name: str) -> None:
    """Where a recording's own counts exclude the published ASL, no replay of it can give that number."""
    span = span_of({task["task_id"]: task["successful_cycles"] for task in recording(name)})
    near = span.low - ASL_TOLERANCE < published_asl(PUBLISHED[name]) < span.high + ASL_TOLERANCE
    assert near is (name not in OTHER_RUN)


def span_of(sustained: dict[str, int]) -> Interval:
    """The ASL interval of these loops alone."""
    counts = Counter(sustained.values())
    low = loop.asl_of_counts(counts, 10, {i: (i - 1) / i for i in range(1, 10)})
    return Interval(low, loop.asl_of_counts(counts, 10))


def published_asl(model: str) -> float:
    data = os.environ.get("TRIATHLON_DATA")
    shared = Path(data).parent if data else Path(__file__).resolve().parents[4] / "shared"
    with (shared / "published" / "evaloop_models.csv").open(newline="") as file:
        return next(float(row["asl"]) for row in csv.DictReader(file) if row["model"] == model)
