"""Answers to CRUXEval, imported, and recorded: a line a task, each sample with its outcome."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from support.import_place import ImportPlace, write_json
from support.official_data import official_store
from triathlon_runner.datasets import official
from triathlon_runner.errors import UserError
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


@pytest.mark.parametrize("text", ["won", "passed*x", "passed*", "passed,failed"])
def test_other_outcomes_are_refused(text: str) -> None:
    """What is no outcome, or no number of them, is no line."""
    with pytest.raises(ValueError, match=r"won|passed"):
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
    (place.results / "recorded/sources.yaml").write_text(SOURCES)
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
def test_the_same_answers_give_the_same_bytes(filed: ImportPlace) -> None:
    """Filed again, by the command itself, nothing changes."""

    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in (filed.results / "recorded").rglob("*.json*")}

    before = content()
    filed.bring("cruxeval", filed.root / "logs/cruxeval", "--recorded", "cruxeval")
    assert content() == before and len(before) == 4
    assert not file_of(filed, "runtime/cruxeval-input").lines.exists()


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
    found = list(read_records(place.lines("m", "runtime/cruxeval-output@cot"), PredictionRecord))
    assert [(one.sample, one.prediction.correct) for one in found] == [(0, True), (1, False)]
