"""Recorded results: others' replies, graded here, filed as outcomes with a receipt."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

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
from support.official_data import official_store
from triathlon_runner.datasets import official
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.imports import FORMATS
from triathlon_runner.records import (
    Outcome,
    PredictionRecord,
    RecordedLine,
    RecordedManifest,
    RecordedTask,
    recorded_lines,
)
from triathlon_runner.store import RecordedFile, read_records

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


FAILED_BASE = {"base_status": "fail", "plus_status": "pass"}


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


@pytest.fixture(scope="module")
def loops(place: ImportPlace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recordings of two models, which are filed."""
    folder = two_models(tmp_path_factory.mktemp("loops"))
    place.bring("evaloop", folder, "--recorded", "tiny")
    return folder


@pytest.mark.usefixtures("loops")
def test_a_folder_of_recordings_is_filed_without_texts(place: ImportPlace) -> None:
    """Each file goes to the model of its name, as outcomes with a short hash; no field has its default value.

    Of a program that failed there and passes here the recording's count is filed, and the line is marked.
    """

    def line(model: str, text: str, task_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
        (found,) = (line for line in lines(place, model) if line["task_id"] == task_id)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return found, {"task_id": task_id, "sample": 0, "outcome": found["outcome"], "program": digest}

    found, common = line("model-a", f"{FIRST.reference}\0{WRONG}", FIRST.task_id)
    assert found == {**common, "sustained_loops": 1}
    found, common = line("model-a", WRONG, SECOND.task_id)
    assert found == {**common, "sustained_loops": 0}
    found, common = line("model-b", SECOND.reference, SECOND.task_id)
    assert found == {**common, "outcome": "failed", "sustained_loops": 0, "differs": True}
    written = "".join(path.read_text() for path in (place.results / "recorded/tiny").rglob("*.json*"))
    assert "Write it" not in written and "def " not in written


def test_the_receipt_tells_where_it_comes_from(place: ImportPlace, loops: Path) -> None:
    """Source, address, commit, date, licence, checksum of the file, and how many verdicts are equal."""
    found = receipt(place, "model-b")
    assert found["sha256"] == hashlib.sha256((loops / "loop-model-b.json.gz").read_bytes()).hexdigest()
    assert (found["source"], found["address"]) == ("tiny", "https://example.org/tiny")
    assert (found["commit"], found["date"], found["licence"]) == ("abc1234", "2025-10", "none found")
    assert (found["compared"], found["equal"]) == (2, 1)


def test_the_same_recordings_give_the_same_bytes(place: ImportPlace, loops: Path) -> None:
    """No clock and no order of grading shows in what is filed."""
    files = sorted((place.results / "recorded/tiny").rglob("*.json*"))
    before = [path.read_bytes() for path in files]
    place.bring("evaloop", loops, "--recorded", "tiny")
    assert [path.read_bytes() for path in files] == before


def test_sets_of_one_file_and_official_verdicts(place: ImportPlace, tmp_path: Path) -> None:
    """A row goes to the suite of its subset; its official verdict is compared with ours.

    EvalPlus' `plus_status` is about the added inputs alone: failed on the base, a program has failed.
    """

    def row(subset: str, task_id: str, solution: str, plus: str | None) -> dict[str, Any]:
        published = {"base_status": "pass", "plus_status": plus}
        return {"subset": subset, "task_id": task_id, "solution": solution, "published": published}

    rows = [
        row("core-other", FIRST.task_id, FIRST.reference, None),
        row("EvoEval_seeds", SECOND.task_id, SECOND.reference, "pass"),
        row("EvoEval_seeds", FIRST.task_id, WRONG, "pass") | {"published": FAILED_BASE},
        row("EvoEval_seeds", THIRD.task_id, WRONG, None) | {"published": {}},
    ]
    log = write_lines(tmp_path / "evolved-solver.jsonl", *rows)
    place.bring("evoeval", log, "--recorded", "sets")
    found = lines(place, "solver", "evolved/core-seeds", "sets")
    assert [(line["task_id"], line["outcome"] == "passed") for line in found] == [
        (FIRST.task_id, False),
        (SECOND.task_id, True),
        (THIRD.task_id, False),
    ]
    stated = receipt(place, "solver", "evolved/core-seeds", "sets")
    assert (stated["compared"], stated["equal"]) == (2, 2)
    assert not RecordedFile(place.results, "sets", "solver", "evolved/core-difficult").lines.exists()


def test_a_folder_of_programs_is_filed(place: ImportPlace, tmp_path: Path) -> None:
    """As EvalPlus and EvoEval write one: the folder is the log, and the checksum is that of its files."""
    program = tmp_path / "programmer" / FIRST.task_id.replace("/", "_") / "0.py"
    program.parent.mkdir(parents=True)
    program.write_text(FIRST.reference)
    place.bring("evoeval", tmp_path / "programmer", "--recorded", "sets", "--suite", "evolved/core-seeds")
    assert lines(place, "programmer", "evolved/core-seeds", "sets")[0]["outcome"] == "passed"
    assert len(receipt(place, "programmer", "evolved/core-seeds", "sets")["sha256"]) == 64


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


ANSWER_SOURCES = """
sources:
  - id: cruxeval
    title: Answers
    address: https://example.org/answers
    commit: abc1234
    licence: MIT
    suites: [runtime/cruxeval-output, runtime/cruxeval-output@cot, runtime/cruxeval-input]
    models: {coder: best-coder}
"""
OUTPUT = "runtime/cruxeval-output"


def log(folder: Path, name: str, answers: dict[str, list[str]], scored: dict[str, list[bool]]) -> Path:
    """One file as CRUXEval's site has it."""
    content = {"raw_generations": answers, "raw_scored_generations": scored}
    return write_json(folder / f"{name}.json.gz", content)


@pytest.mark.parametrize(
    ("outcomes", "text"),
    [
        ([Outcome.PASSED], "passed"),
        ([Outcome.PASSED] * 2 + [Outcome.FAILED], "passed*2 failed"),
        ([Outcome.FAILED, Outcome.TIMED_OUT, Outcome.FAILED], "failed timed_out failed"),
    ],
    ids=str,
)
def test_outcomes_of_samples_stand_in_their_order(outcomes: Sequence[Outcome], text: str) -> None:
    """A run of equal outcomes is written once with its length, and read as as many samples."""
    samples = [
        RecordedLine(task_id="t", sample=number, outcome=outcome, program="")
        for number, outcome in enumerate(outcomes)
    ]
    (line,) = recorded_lines([(sample, "") for sample in samples], by_task=True)
    assert isinstance(line, RecordedTask)
    assert (line.outcomes, list(line.samples())) == (text, outcomes)
    if len(samples) > 1:
        with pytest.raises(UserError, match="expected its samples from 0 on"):
            recorded_lines([(sample, "") for sample in samples[1:]], by_task=True)


@pytest.mark.parametrize(
    "text",
    [
        *("won", "passed*x", "passed*", "passed,failed"),
        *("passed*999999999999", "passed*99999 failed*2", "passed*" + "9" * 5000),
    ],
)
def test_other_outcomes_are_refused(text: str) -> None:
    """What is no outcome, or no number of them, is no line; nor is a number that nobody can count to."""
    with pytest.raises(ValueError, match=r"'won'|outcomes: expected"):
        list(RecordedTask(task_id="t", outcomes=text, answers="").samples())


@pytest.mark.parametrize(
    ("name", "answers", "scored", "passed"),
    [
        ("m_temp0.2_output", ["1", "2"], [True, False], [True, False]),
        ("m_temp0.2_input", ["f(1)", "1", "f(2)"], [False, True], [False, False, True]),
        ("m_temp0.2_output", ["1", "f(2) == 1", "2"], [True, False], [True, False, False]),
        ("m_temp0.2_output", ["f(1)", "f(2)", "2"], [True, False], [None, None, None]),
        ("answers", ["1", "f(2)"], [True], [None, None]),
    ],
    ids=str,
)
def test_the_authors_verdicts(
    tmp_path: Path, name: str, answers: list[str], scored: list[bool], passed: list[bool | None]
) -> None:
    """An answer that their harness left out of its list failed there; where none can be told, none is."""
    path = log(tmp_path, name, {"sample_0": answers}, {"sample_0": scored})
    found: list[Any] = list(FORMATS["cruxeval"].read(path))
    assert [one.theirs.base for one in found] == passed


@pytest.fixture(scope="module")
def filed(tmp_path_factory: pytest.TempPathFactory) -> ImportPlace:
    """Two files of two tasks, filed by `make recorded`."""
    first, second = official.cruxeval(official_store())[:2]
    place = ImportPlace(tmp_path_factory.mktemp("answers"))
    (place.results / "recorded").mkdir(parents=True)
    (place.results / "recorded/sources.yaml").write_text(ANSWER_SOURCES)
    folder = place.root / "logs/cruxeval"
    answers = {second.task_id: ["0", second.output], first.task_id: [first.output, first.output, "0"]}
    scored = {second.task_id: [False, False], first.task_id: [True, True, True]}
    log(folder, "Coder_temp0.2_output", answers, scored)
    log(folder, "coder+cot_temp0.2_output", {first.task_id: [first.output]}, {first.task_id: [True]})
    done = place.make_recorded(place.root / "logs")
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def file_of(place: ImportPlace, suite: str = OUTPUT) -> RecordedFile:
    return RecordedFile(place.results, "cruxeval", "best-coder", suite)


@pytest.mark.official
def test_a_line_holds_a_task(filed: ImportPlace) -> None:
    """Outcomes of its samples, a hash of all answers, and which samples their authors graded otherwise."""
    first = official.cruxeval(official_store())[0]
    lines = filed.recorded("best-coder", OUTPUT, "cruxeval")
    texts = "\0".join(f"[ANSWER]\n{text}\n[/ANSWER]" for text in (first.output, first.output, "0"))
    assert lines[0] == {
        "task_id": first.task_id,
        "outcomes": "passed*2 failed",
        "answers": hashlib.sha256(texts.encode()).hexdigest()[:8],
        "differs": [2],
    }
    assert (lines[1]["outcomes"], lines[1]["differs"]) == ("failed passed", [1])
    assert file_of(filed, f"{OUTPUT}@cot").lines.is_file()  # the file's name tells side and style
    receipt = file_of(filed).read_manifest().receipt
    assert (receipt.compared, receipt.equal) == (5, 3)


@pytest.mark.official
def test_every_sample_is_a_unit(filed: ImportPlace) -> None:
    """What reads recorded results gets one record a sample, and `verify` checks them."""
    units = file_of(filed).read()
    assert [(one.sample, one.outcome.value) for one in units] == [
        *((0, "passed"), (1, "passed"), (2, "failed")),
        *((0, "failed"), (1, "passed")),
    ]
    result = filed.call("verify", "--models", "best-coder")
    assert result.exit_code == 0, result.output


@pytest.mark.official
def test_a_damaged_line_is_named(filed: ImportPlace, tmp_path: Path) -> None:
    """A line whose outcomes are none tells where it stands."""
    stored = file_of(filed)
    copy = RecordedFile(tmp_path, "cruxeval", "best-coder", OUTPUT)
    copy.lines.parent.mkdir(parents=True)
    copy.manifest.write_bytes(stored.manifest.read_bytes())
    copy.lines.write_text(stored.lines.read_text().replace("passed*2", "won*2"))
    with pytest.raises(UserError, match=r"line 1: .*'won'"):
        copy.read()


def test_a_manifest_tells_what_its_lines_hold() -> None:
    """An unknown kind of line is refused."""
    with pytest.raises(ValidationError, match="line_holds"):
        RecordedManifest.model_validate({"line_holds": "word"})


@pytest.mark.slow
@pytest.mark.official
@pytest.mark.parametrize(
    "graded", [pytest.param(True, id="graded", marks=pytest.mark.slow), pytest.param(False, id="generations")]
)
def test_answers_are_judged_here(tmp_path: Path, graded: bool) -> None:
    """Each answer of a file is a sample of its task, graded here, with or without CRUXEval's own verdicts."""
    row = official.cruxeval(official_store())[0]
    answers = {row.task_id: [row.output, "0"]}
    log = write_json(tmp_path / "answers.json", {"raw_generations": answers} if graded else answers)
    place = ImportPlace(tmp_path)
    wrong_suite = place.bring("cruxeval", log, "--model", "m", "--suite", "runtime/core", code=1)
    assert "asks in another way" in wrong_suite
    place.bring("cruxeval", log, "--model", "m", "--suite", "runtime/cruxeval-output@cot")
    found = list(read_records(place.imported("m", "runtime/cruxeval-output@cot"), PredictionRecord))
    assert [(one.sample, one.prediction.correct) for one in found] == [(0, True), (1, False)]
