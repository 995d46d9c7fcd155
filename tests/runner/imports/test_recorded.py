"""Recorded results: others' replies, graded here, filed as outcomes with a receipt."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from support.import_place import (
    FIRST,
    SECOND,
    THIRD,
    WRONG,
    ImportPlace,
    evaloop_task,
    write_json,
    write_lines,
)
from triathlon_runner.errors import InfrastructureError
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.store import RecordedFile

SOURCES = """
sources:
  - id: tiny
    title: Tiny recordings
    address: https://example.org/tiny
    commit: abc1234
    date: "2025-10"
    licence: none found
    suites: [loop/core]
  - id: sets
    title: Solutions of sets
    address: https://example.org/sets
    commit: abc1234
    licence: MIT
    suites: [evolved/core-seeds, evolved/core-difficult]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> ImportPlace:
    """A folder whose sources and cache of answer keys all tests share."""
    place = ImportPlace(tmp_path_factory.mktemp("recorded"))
    (place.results / "recorded").mkdir(parents=True)
    (place.results / "recorded" / "sources.yaml").write_text(SOURCES)
    return place


def two_models(folder: Path) -> Path:
    """One sustains a loop as recorded; the other's program failed there and passes here."""
    good = evaloop_task(FIRST.task_id, FIRST.reference, WRONG)
    bad, other = (evaloop_task(SECOND.task_id, program) for program in (WRONG, SECOND.reference))
    write_json(folder / "model-a.json.gz", {"1": [good], "0": [bad]})
    write_json(folder / "loop-model-b.json.gz", {"1": [good], "0": [other]})
    return folder


def lines(
    place: ImportPlace, model: str, suite: str = "loop/core", source: str = "tiny"
) -> list[dict[str, Any]]:
    return place.recorded(model, suite, source)


def receipt(place: ImportPlace, model: str, suite: str = "loop/core", source: str = "tiny") -> dict[str, Any]:
    path = RecordedFile(place.results, source, model, suite).manifest
    found: dict[str, Any] = json.loads(path.read_bytes())["receipt"]
    return found


def test_a_folder_of_recordings_is_filed_without_texts(place: ImportPlace, tmp_path: Path) -> None:
    """Each file goes to the model of its name, as outcomes with a short hash; no text of the recording."""
    folder = two_models(tmp_path)
    place.bring("evaloop", folder, "--recorded", "tiny")
    programs = hashlib.sha256(f"{FIRST.reference}\0{WRONG}".encode()).hexdigest()[:8]
    found = {line["task_id"]: line for line in lines(place, "model-a")}
    assert found[FIRST.task_id] == {
        "task_id": FIRST.task_id,
        "sample": 0,
        "outcome": found[FIRST.task_id]["outcome"],
        "sustained_loops": 1,
        "program": programs,
    }
    assert found[SECOND.task_id]["sustained_loops"] == 0
    written = "".join(path.read_text() for path in (place.results / "recorded/tiny").rglob("*.json*"))
    assert "Write it" not in written and "def " not in written


def test_the_receipt_tells_where_it_comes_from(place: ImportPlace, tmp_path: Path) -> None:
    """Source, address, commit, date, licence, checksum of the file, and how many verdicts are equal."""
    folder = two_models(tmp_path)
    place.bring("evaloop", folder, "--recorded", "tiny")
    found = receipt(place, "model-b")
    assert found["sha256"] == hashlib.sha256((folder / "loop-model-b.json.gz").read_bytes()).hexdigest()
    assert (found["source"], found["address"]) == ("tiny", "https://example.org/tiny")
    assert (found["commit"], found["date"], found["licence"]) == ("abc1234", "2025-10", "none found")
    assert (found["compared"], found["equal"]) == (2, 1)


def test_a_program_that_failed_there_and_passes_here_keeps_the_recorded_loops(
    place: ImportPlace, tmp_path: Path
) -> None:
    """Nobody asked further: the recording's count is filed and marked; no field has its default value."""
    place.bring("evaloop", two_models(tmp_path), "--recorded", "tiny")
    found = {line["task_id"]: line for line in lines(place, "model-b")}
    common = {"sample": 0, "outcome": "failed", "sustained_loops": 0, "differs": True}
    program = hashlib.sha256(SECOND.reference.encode()).hexdigest()[:8]
    assert found[SECOND.task_id] == {"task_id": SECOND.task_id, "program": program, **common}
    assert not found[FIRST.task_id].keys() & {"loops_from_programs", "parents", "differs"}


def test_the_same_recordings_give_the_same_bytes(place: ImportPlace, tmp_path: Path) -> None:
    """No clock and no order of grading shows in what is filed."""
    folder = two_models(tmp_path)

    def filed() -> dict[str, bytes]:
        place.bring("evaloop", folder, "--recorded", "tiny")
        files = (place.results / "recorded/tiny").rglob("*.json*")
        return {path.name + path.parent.parent.name: path.read_bytes() for path in files}

    assert filed() == filed()


def test_sets_of_one_file_and_official_verdicts(place: ImportPlace, tmp_path: Path) -> None:
    """A row goes to the suite of its subset; its official verdict is compared with ours."""

    def row(subset: str, task_id: str, solution: str, plus: str | None) -> dict[str, Any]:
        published = {"base_status": "pass", "plus_status": plus}
        return {"subset": subset, "task_id": task_id, "solution": solution, "published": published}

    rows = [
        row("core-other", FIRST.task_id, FIRST.reference, None),
        row("EvoEval_seeds", SECOND.task_id, SECOND.reference, "pass"),
        row("EvoEval_seeds", THIRD.task_id, WRONG, None) | {"published": {}},
    ]
    log = write_lines(tmp_path / "evolved-solver.jsonl", *rows)
    place.bring("evoeval", log, "--recorded", "sets")
    found = lines(place, "solver", "evolved/core-seeds", "sets")
    assert [(line["task_id"], line["outcome"] == "passed") for line in found] == [
        (SECOND.task_id, True),
        (THIRD.task_id, False),
    ]
    stated = receipt(place, "solver", "evolved/core-seeds", "sets")
    assert (stated["compared"], stated["equal"]) == (1, 1)
    assert not RecordedFile(place.results, "sets", "solver", "evolved/core-difficult").lines.exists()


def test_base_and_added_inputs_have_to_pass(place: ImportPlace, tmp_path: Path) -> None:
    """EvalPlus' `plus_status` is about the added inputs alone: failed on the base, a program has failed."""
    published = {"base_status": "fail", "plus_status": "pass"}
    row = {"task_id": FIRST.task_id, "solution": WRONG, "subset": "EvoEval_seeds", "published": published}
    log = write_lines(tmp_path / "evolved-failed.jsonl", row)
    place.bring("evoeval", log, "--recorded", "sets")
    found = receipt(place, "failed", "evolved/core-seeds", "sets")
    assert (found["compared"], found["equal"]) == (1, 1)


def test_kept_verdicts_are_not_graded_again(place: ImportPlace, tmp_path: Path) -> None:
    """What `--verdicts` holds is taken as it is, a line that was cut is graded anew, another file refused."""
    verdicts = tmp_path / "verdicts.jsonl"
    arguments = (two_models(tmp_path / "logs"), "--recorded", "tiny", "--verdicts", str(verdicts))
    place.bring("evaloop", *arguments)
    whole = verdicts.read_bytes()
    changed = whole.replace(b'\\"outcome\\":\\"passed\\"', b'\\"outcome\\":\\"timed_out\\"')
    verdicts.write_bytes(changed)
    place.bring("evaloop", *arguments)
    assert {line["outcome"] for line in lines(place, "model-a")} >= {"timed_out"}
    assert verdicts.read_bytes() == changed
    verdicts.write_bytes(whole[:-10])
    place.bring("evaloop", *arguments)
    assert sorted(verdicts.read_bytes().splitlines()) == sorted(whole.splitlines())
    verdicts.write_text('["my", "notes"]\n')
    assert "expected lines of a key and a verdict" in place.bring("evaloop", *arguments, code=1)
    assert verdicts.read_text() == '["my", "notes"]\n'


def test_nothing_is_filed_where_our_machinery_failed(
    place: ImportPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be graded is named, what was filed before stays, and the next call files it."""

    async def fails(*_: object, **__: object) -> None:
        raise InfrastructureError("the sandbox is away")

    log = write_json(tmp_path / "faulty.json.gz", {"0": [evaloop_task(FIRST.task_id, WRONG)]})
    with monkeypatch.context() as patch:
        patch.setattr(ProgramGrader, "grade", fails)
        assert "the sandbox is away" in place.bring("evaloop", log, "--recorded", "tiny", code=1)
    assert not RecordedFile(place.results, "tiny", "faulty", "loop/core").lines.exists()
    place.bring("evaloop", log, "--recorded", "tiny")
    assert lines(place, "faulty")[0]["sustained_loops"] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--recorded", "unknown"), "expected a source 'unknown', got tiny, sets"),
        (("--recorded", "tiny", "--model", "one"), "expected one log with --model, got 2"),
        ((), "expected --suite"),
    ],
    ids=str,
)
def test_what_cannot_be_filed_is_said(
    place: ImportPlace, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    """An unknown source, one model for two logs, and an import without a suite are a user's errors."""
    assert says in place.bring("evaloop", two_models(tmp_path), *arguments, code=1)


def test_verify_and_list_know_recorded_results(place: ImportPlace, tmp_path: Path) -> None:
    """`verify` says that there is nothing to grade again and notices a changed line."""
    place.bring("evaloop", two_models(tmp_path), "--recorded", "tiny")
    result = place.call("verify", "--models", "model-a")
    assert result.exit_code == 0, result.output
    assert "1 recorded file with outcomes only" in result.output
    listed = json.loads(place.call("results", "list", "--no-check", "--json").output)
    assert "recorded: tiny, model-a.json.gz" in [row["state"] for row in listed if row["model"] == "model-a"]
    path = RecordedFile(place.results, "tiny", "model-a", "loop/core").lines
    path.write_text(path.read_text().replace('"sustained_loops":1', '"sustained_loops":11'))
    result = place.call("verify", "--models", "model-a")
    assert result.exit_code == 1
    assert "sustained_loops: expected 0 to 10, got 11" in result.output


def test_make_recorded(tmp_path: Path) -> None:
    """`make recorded DIR=…` files every loop recording of a folder; without a folder it says what to name."""
    sources = tmp_path / "results/recorded"
    sources.mkdir(parents=True)
    (sources / "sources.yaml").write_text(SOURCES.replace("id: tiny", "id: evalooop"))
    two_models(tmp_path / "recordings/loop")
    place = ImportPlace(tmp_path)
    done = place.make_recorded(tmp_path / "recordings")
    assert done.returncode == 0, done.stdout + done.stderr
    filed = sorted(path.parent.parent.name for path in sources.rglob("*.jsonl"))
    assert filed == ["model-a", "model-b"]
    nowhere = place.make_recorded("")
    assert nowhere.returncode == 2
    assert "make recorded DIR=FOLDER" in nowhere.stderr
