"""`triathlon evolve` from the command line: costs, resuming, what to do next."""

import re
from pathlib import Path

import pytest

from support.small_run import ROWS, SmallRun, served
from triathlon_runner.store import refuse_second_writer

pytestmark = pytest.mark.slow

SCRIPT = "support.evolver_replies:answer"
ROW = ROWS.replace("input: 1, output: 2", "input: 10, output: 30")
UNREACHABLE = "http://127.0.0.1:9/v1"
EVOLVE = "evolve --model m --out work"
SOME = f"{EVOLVE} --transformations verbose,concise --limit 1"


def test_costs_and_what_to_do_next_are_shown(tmp_path: Path) -> None:
    """Costs before and during; at the end how many problems await a decision, and the row of suites.yaml."""
    with served(tmp_path, SCRIPT, ROW) as place:
        said = place.expect(f"{SOME} --dry-run", 0)
        assert re.search(r"2 problems to evolve, about 4 requests, \d+ tokens, about 0\.\d\d USD", said)
        assert not (tmp_path / "work").exists()
        done = "2/2 evolved, 0 dropped, 0 open"
        place.expect(SOME, 0, done, "0.00 USD", "2 of 2 jobs gave a problem")
        paid_for_before = f"{done}, 0 tokens, 0.00 USD"
        place.expect(f"{SOME} --out elsewhere", 0, paid_for_before)
        nothing = "0 problems to evolve (2 done before), about 0 requests, 0 tokens, about 0.00 USD"
        again = place.expect(SOME, 0, nothing, "!0/2 evolved")
    assert "work/concise.jsonl: 0 accepted, 0 refused, 1 await a decision" in again
    row = '- {id: "seeds-concise", title: "concise, evolved from Core seeds: '
    assert "sed -i" in again and row in again
    assert 'problems: "work/concise.jsonl", seeds: "evolved/core-seeds"' in again


def test_what_is_looked_at_before_a_model_is_paid(tmp_path: Path) -> None:
    """The folder is checked, here one that can't be written."""
    place = SmallRun(tmp_path)
    (tmp_path / "models.yaml").write_text(ROW.format(url=UNREACHABLE))
    (tmp_path / "work").write_text("a file")
    place.expect(f"{EVOLVE} --limit 1", 2, "--out expects a folder that can be written, got 'work'")


def test_a_budget_is_kept(tmp_path: Path) -> None:
    """Nothing is sent once it is spent: jobs stay open, and the next call goes on. It needs a price."""
    jobs = f"{EVOLVE} --transformations verbose --limit 12 --budget"
    with served(tmp_path, SCRIPT, ROW) as place:
        place.expect(f"{jobs} 0", 1, "stopped: the budget of 0 USD")
        said = place.expect(f"{jobs} 0.003", 1, "stopped: the budget of 0.003 USD is used up")
        spent = re.search(r"(0\.\d+) USD spent in this run", said)
        assert spent is not None and 0.003 <= float(spent[1]) < 0.006
        assert re.search(r"open, \d+ jobs: the run was stopped", said)
        with refuse_second_writer(tmp_path / "work/.lock", "", ""):
            place.expect(f"{jobs} 100", 2, "another triathlon command is writing problems to 'work'")
        place.expect(f"{jobs} 100", 0, "12/12 evolved, 0 dropped, 0 open")
    models = tmp_path / "models.yaml"
    models.write_text(models.read_text().replace("price:", "#"))
    place.expect(f"{jobs} 1", 2, "--budget needs the price of 'm'")


@pytest.mark.parametrize(
    ("part", "wrong", "why"),
    [
        ("scripted", "locked", "open, 3 jobs: the key in $SMALL_RUN_KEY was not accepted"),
        ("{url}", UNREACHABLE, "no answer from the server"),
    ],
)
def test_a_model_that_cannot_be_asked_is_said_once(tmp_path: Path, part: str, wrong: str, why: str) -> None:
    """Exit code 2, with what to do in one line, however many jobs stay open."""
    with served(tmp_path, "support.server_scripts:bad_replies", ROW.replace(part, wrong)) as place:
        said = place.expect(f"{EVOLVE} --transformations verbose --limit 3", 2, why)
    assert said.count("Unauthorized") == (wrong == "locked")
