"""A user's own data set in the commands beside run, verify, gate and grade: import, questions, evolve."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.user_place import UserPlace
from support.user_problems import MARKER, PRIVATE, PROGRAMS, ROW, RUNS, SLUG, write_problems
from triathlon_runner.runtime import read_questions

WRONG = {**SLUG, "canonical_solution": "    return title\n"}
NO_INPUTS = {**SLUG, "test": "def check(candidate):\n    assert candidate(str(1)) == '1'\n"}
NAMES = {"slug": "mine/slug", "total": "mine/total", "runs": "Mbpp/17"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with model_server_process("support.user_problems:evolve", "--model", "good") as url:
        yield url


@pytest.fixture
def place(tmp_path: Path, server: str) -> UserPlace:
    return UserPlace.made(tmp_path, server)


def samples(place: UserPlace) -> str:
    """Right programs for two problems, a wrong one for the third."""
    programs = {**PROGRAMS, "total": f"def total(prices):\n    return '{MARKER}'\n"}
    rows = [{"task_id": NAMES[name], "solution": text} for name, text in programs.items()]
    (place.root / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "samples.jsonl"


@pytest.mark.parametrize("row", [ROW, PRIVATE], ids=["public", "private"])
def test_logs_are_imported_into_them(place: UserPlace, row: str) -> None:
    """Judged by the user's problems; of a private data set no text of a task or program is on the site."""
    (place.root / "suites.yaml").write_text(row)
    place.expect(f"import evalplus {samples(place)} --suite evolved/mine --model theirs", 0)
    lines = place.results / "imported/runs/theirs/evolved/mine.jsonl"
    stored = [json.loads(line) for line in lines.read_text().splitlines()]
    outcomes = {line["task_id"]: line["outcome"] for line in stored}
    assert outcomes == {"mine/slug": "passed", "mine/total": "failed", "Mbpp/17": "passed"}
    assert place.json("verify")["follows"]
    site = place.site()
    assert "theirs" in site["imported.html"]
    if row == PRIVATE:
        assert json.loads(lines.with_suffix(".manifest.json").read_text())["private"] is True
        assert [name for name, text in site.items() if MARKER in text] == []


def test_questions_are_built_of_them(place: UserPlace) -> None:
    """References are checked first; results of the file are verified where it is named.

    No file is written of private ones, which would hold their functions.
    """
    build = "questions build --dataset mine --out questions.json"
    (place.root / "suites.yaml").write_text(PRIVATE)
    refusal = "suites.yaml, line 1: expected a data set whose texts may be handed on, got 'mine'"
    place.expect(build, 2, refusal, "triathlon run --suites runtime/mine")
    assert not (place.root / "questions.json").exists()
    (place.root / "suites.yaml").write_text(ROW)
    place.expect(build, 0)
    written = read_questions(place.root / "questions.json")
    assert {program.task_id for program in written.programs} == set(NAMES.values())
    place.expect("run --models good --suites questions.json@cot", 0)
    unknown = "unknown suite 'runtime/questions@cot': if its questions came from a file, name that"
    place.expect("verify", 1, unknown)
    place.expect("verify --suites questions.json@cot", 0, "units, follows")
    write_problems(place.root / "mine.jsonl", WRONG)
    place.expect(build, 2, "line 1, task 'mine/slug': expected a reference that passes its own tests")


def test_what_was_evolved_from_them_shares_their_board(place: UserPlace) -> None:
    """What is no function is left out; the mean over both sets ranks; private seeds make a private set."""
    (place.root / "suites.yaml").write_text(PRIVATE)
    evolve = "evolve --model good --out new --seeds evolved/mine --transformations verbose"
    left_out = "left out: Mbpp/17: a seed needs a prompt with a function that has parameters"
    place.expect(f"{evolve} --dry-run", 0, left_out, "2 problems to evolve")
    said = place.expect(evolve, 0, "2/2 evolved, 0 dropped, 0 open")
    (row,) = (line for line in said.splitlines() if line.startswith("- {"))
    assert row.endswith('private: true, seeds: "evolved/mine", transformation: "verbose"}')
    file = place.root / "new" / "verbose.jsonl"
    file.write_text(file.read_text().replace('"accepted": null', '"accepted": true'))
    (place.root / "suites.yaml").write_text(f"{ROW}{row}\n")
    suites = "evolved/mine,evolved/mine-verbose"
    place.expect(f"run --models good --suites {suites} --profile standard", 0)
    page = place.site()["evolved-mine.html"]
    assert "Mean pass@1" in page and "mine verbose" in page
    assert "What other words and helpers change" in page
    parents = [line["parents"] for line in place.records("evolved/mine-verbose", "good")]
    assert sorted(map(str, parents)) == ["['mine/slug']", "['mine/total']"]


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (RUNS, "expected problems in 'evolved/mine' that can be evolved, got none left out: Mbpp/17"),
        (WRONG, "line 1, task 'mine/slug': expected a reference that passes its own tests"),
        (NO_INPUTS, "mine/slug: a seed needs a prompt with a function"),
    ],
)
def test_what_cannot_be_evolved_is_refused(
    place: UserPlace, problem: dict[str, object], message: str
) -> None:
    """Before a model is asked: exit code 2, naming the problem, or what suites.yaml takes as no `seeds:`."""
    write_problems(place.root / "mine.jsonl", problem)
    evolve = "evolve --model good --out new --dry-run --seeds"
    place.expect(f"{evolve} evolved/mine", 2, message)
    place.expect(f"{evolve} loop/mine", 2, "at --seeds, got 'loop/mine'")
