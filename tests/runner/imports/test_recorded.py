"""Recorded results: others' replies, graded here, filed as outcomes with a receipt."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from support.import_place import (
    CHECKOUT,
    FIRST,
    SECOND,
    SUITE,
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
from triathlon_runner.records import Outcome, PredictionRecord, RecordedUnit, Verdict, lines_without_texts
from triathlon_runner.store import RecordedFile, read_records, recorded_files

OUTPUT = "runtime/cruxeval-output"
SOURCES = f"""
sources:
  - {{id: evalooop, title: Recordings, address: "https://example.org/loops", commit: abc1234, date: "2025-10",
     licence: none found, suites: [loop/core]}}
  - {{id: sets, title: Solutions of sets, address: "https://example.org/sets", commit: abc1234, licence: MIT,
     suites: [evolved/core-seeds, evolved/core-difficult]}}
  - {{id: cruxeval, title: Answers, address: "https://example.org/answers", commit: abc1234, licence: MIT,
     suites: [{OUTPUT}, {OUTPUT}@cot, runtime/cruxeval-input], models: {{coder: best-coder}}}}
"""
FAILED_BASE = {"base_status": "fail", "plus_status": "pass"}


def place_with_sources(root: Path) -> ImportPlace:
    place = ImportPlace(root)
    (place.results / "recorded").mkdir(parents=True)
    (place.results / "recorded/sources.yaml").write_text(SOURCES)
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> ImportPlace:
    """A folder whose sources and cache of answer keys all tests share."""
    return place_with_sources(tmp_path_factory.mktemp("recorded"))


def two_models(folder: Path) -> Path:
    """One sustains a loop as recorded; the other's program failed there and passes here."""
    good = evaloop_task(FIRST.task_id, FIRST.reference, WRONG)
    bad, other = (evaloop_task(SECOND.task_id, program) for program in (WRONG, SECOND.reference))
    write_json(folder / "model-a.json.gz", {"1": [good], "0": [bad]})
    write_json(folder / "loop-model-b.json.gz", {"1": [good], "0": [other]})
    return folder


def test_a_folder_of_recordings_is_filed_without_texts(place: ImportPlace, tmp_path: Path) -> None:
    """By `make`, to the model of its name, as outcomes with a short hash; where we judge otherwise marked."""
    folder = two_models(tmp_path / "loop")
    place.make_recorded(tmp_path)
    differs = {"outcome": "failed", "sustained_loops": 0, "differs": True}
    for model, programs, task_id, filed in (
        ("model-a", f"{FIRST.reference}\0{WRONG}", FIRST.task_id, {"sustained_loops": 1}),
        ("model-a", WRONG, SECOND.task_id, {"sustained_loops": 0}),
        ("model-b", SECOND.reference, SECOND.task_id, differs),
    ):
        (found,) = (line for line in place.recorded(model)[0] if line["task_id"] == task_id)
        program = hashlib.sha256(programs.encode()).hexdigest()[:8]
        common = {"task_id": task_id, "sample": 0, "outcome": found["outcome"], "program": program}
        assert found == {**common, **filed}
    digest = hashlib.sha256((folder / "loop-model-b.json.gz").read_bytes()).hexdigest()
    source = {"source": "evalooop", "commit": "abc1234", "date": "2025-10", "licence": "none found"}
    judged = {"address": "https://example.org/loops", "sha256": digest, "compared": 2, "equal": 1}
    assert place.recorded("model-b")[1].items() >= {**source, **judged}.items()
    files = sorted((place.results / "recorded/evalooop").rglob("*.json*"))
    before = [path.read_bytes() for path in files]
    assert not any(b"Write it" in content or b"def " in content for content in before)
    place.bring("evaloop", folder, "--recorded", "evalooop")
    assert [path.read_bytes() for path in files] == before


def test_sets_of_one_file_and_official_verdicts(place: ImportPlace, tmp_path: Path) -> None:
    """By its subset; EvalPlus' `plus_status` is about the added inputs: failed on the base is failed."""

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
    found, stated = place.recorded("solver", SUITE, "sets")
    assert [(line["task_id"], line["outcome"] == "passed") for line in found] == [
        (FIRST.task_id, False),
        (SECOND.task_id, True),
        (THIRD.task_id, False),
    ]
    assert (stated["compared"], stated["equal"]) == (2, 2)
    assert not RecordedFile(place.results, "sets", "solver", "evolved/core-difficult").lines.exists()
    program = tmp_path / "programmer" / FIRST.task_id.replace("/", "_") / "0.py"
    program.parent.mkdir(parents=True)
    program.write_text(FIRST.reference)
    place.bring("evoeval", tmp_path / "programmer", "--recorded", "sets", "--suite", SUITE)
    found, stated = place.recorded("programmer", SUITE, "sets")
    assert found[0]["outcome"] == "passed" and len(stated["sha256"]) == 64


def test_kept_verdicts_are_not_graded_again(tmp_path: Path) -> None:
    """What the cache holds is taken as it is, a line that was cut is graded anew, another file refused."""
    place = place_with_sources(tmp_path)
    verdicts = tmp_path / "cache/verdicts/loop-core.jsonl"
    arguments = (two_models(tmp_path / "logs"), "--recorded", "evalooop")
    place.bring("evaloop", *arguments)
    whole = verdicts.read_bytes()
    changed = whole.replace(b'\\"outcome\\":\\"passed\\"', b'\\"outcome\\":\\"timed_out\\"')
    verdicts.write_bytes(changed)
    place.bring("evaloop", *arguments)
    assert "timed_out" in {line["outcome"] for line in place.recorded("model-a")[0]}
    assert verdicts.read_bytes() == changed
    verdicts.write_bytes(whole[:-10])
    place.bring("evaloop", *arguments)
    assert sorted(verdicts.read_bytes().splitlines()) == sorted(whole.splitlines())
    verdicts.write_text('["my", "notes"]\n')
    assert "expected lines of a key and a verdict" in place.bring("evaloop", *arguments, code=1)
    assert verdicts.read_text() == '["my", "notes"]\n'


def test_nothing_is_filed_where_our_machinery_failed(tmp_path: Path) -> None:
    """What could not be graded is named, what was filed before stays, and the next call files it."""
    place = place_with_sources(tmp_path)
    tasks = [evaloop_task(problem.task_id, WRONG) for problem in (FIRST, SECOND)]
    log = write_json(tmp_path / "faulty.json.gz", {"0": tasks})
    found = [InfrastructureError("the sandbox is away"), Verdict(outcome=Outcome.CRASHED, passed=0, total=1)]
    with patch.object(ProgramGrader, "grade", side_effect=found):
        assert "the sandbox is away" in place.bring("evaloop", log, "--recorded", "evalooop", code=1)
    assert not RecordedFile(place.results, "evalooop", "faulty", "loop/core").lines.exists()
    place.bring("evaloop", log, "--recorded", "evalooop")
    assert [line["sustained_loops"] for line in place.recorded("faulty")[0]] == [0, 0]


def test_what_cannot_be_filed_is_said(place: ImportPlace, tmp_path: Path) -> None:
    for options, says in (
        (("unknown",), "expected a source 'unknown', got evalooop, sets, cruxeval"),
        (("evalooop", "--model", "one"), "expected one log with --model, got 2"),
    ):
        assert says in place.bring("evaloop", two_models(tmp_path), "--recorded", *options, code=1)


def test_verify_and_list_know_recorded_results(place: ImportPlace, tmp_path: Path) -> None:
    """`verify` says that there is nothing to grade again and notices a changed line."""
    place.bring("evaloop", two_models(tmp_path), "--recorded", "evalooop")
    place.expect("verify --models model-a", 0, "1 recorded file with outcomes only")
    place.expect("results list --no-check --json", 0, '"state": "recorded: evalooop, model-a.json.gz"')
    path = RecordedFile(place.results, "evalooop", "model-a", "loop/core").lines
    path.write_text(path.read_text().replace('"sustained_loops":1', '"sustained_loops":11'))
    said = " ".join(place.expect("verify --models model-a", 1).split())
    assert "core.jsonl, line 1: " in said and "sustained_loops: expected 0 to 10, got 11" in said


def test_recorded_lines_that_are_no_file(tmp_path: Path) -> None:
    """A link is not followed, since an error quotes what it reads; a pipe is not waited for."""
    place = place_with_sources(tmp_path)
    place.bring("evaloop", two_models(tmp_path), "--recorded", "evalooop")
    path = RecordedFile(place.results, "evalooop", "model-a", "loop/core").lines
    path.write_text("password\n")
    for what, make in (("a link", place.link), ("a pipe", os.mkfifo), ("a folder", Path.mkdir)):
        if what != "a link":
            path.unlink()
        make(path)
        assert not place.json("verify --models model-a", 1)["follows"]
        place.expect("verify --models model-a", 1, what, "!password")
        place.expect("results list --no-check", 0, what, "!password")


def unit(outcomes: str) -> RecordedUnit:
    """The record of a line of outcomes, beside a committed manifest."""
    committed = recorded_files(CHECKOUT / "results")
    manifest = next(file for file in committed if file.suite == OUTPUT).read_manifest()
    return manifest.unit(json.dumps({"task_id": "t", "outcomes": outcomes, "answers": ""}).encode())


@pytest.mark.parametrize(
    "text", ["passed", "passed*2 failed", "failed timed_out failed"], ids=["one", "a run", "no run"]
)
def test_outcomes_of_samples_stand_in_their_order(text: str) -> None:
    """A run of equal outcomes is written once with its length, and read as as many samples."""
    samples = unit(text).apart()
    assert text.startswith(samples[0].outcome)
    assert [sample.sample for sample in samples] == list(range(text.count(" ") + 1 + text.count("*")))
    written = [(sample, "", False) for sample in samples]
    assert lines_without_texts(written, by_task=True)[0]["outcomes"] == text
    if len(samples) > 1:
        with pytest.raises(UserError, match="expected its samples from 0 on"):
            lines_without_texts(written[1:], by_task=True)


@pytest.mark.parametrize(
    "text",
    [
        *("", "won", "passed*x", "passed*", "passed,failed"),
        *("passed*999999999999", "passed*99999 failed*2", "passed*" + "9" * 5000),
    ],
)
def test_other_outcomes_are_refused(text: str) -> None:
    """What is no outcome, or no number of them, is no line; nor is a number that nobody can count to."""
    with pytest.raises(ValueError, match=r"'won'|expected (the )?outcome"):
        unit(text)


@pytest.mark.parametrize("task_lines", [False, True], ids=["sample", "task"])
def test_a_line_has_what_the_score_needs_and_no_more(task_lines: bool) -> None:
    """A committed line is refused with a text, a similarity, or a field that the manifest states."""
    committed = recorded_files(CHECKOUT / "results")
    file = next(one for one in committed if (one.suite == OUTPUT if task_lines else "mbpp" in one.suite))
    manifest, line = file.read_manifest(), file.lines.read_bytes().splitlines()[0]
    manifest.unit(line)
    fields = {"model": "x", "max_loops": 3, "seconds": 1.0, "usage": {}, "judge_replies": []}
    fields |= {"sample": 0} if task_lines else {"samples": ["passed"], "similarity": 1.0, "loops": []}
    for name, value in fields.items():
        with pytest.raises(ValueError, match=r"that the manifest has|without texts|not permitted"):
            manifest.unit(line[:-1] + f", {json.dumps({name: value})[1:]}".encode())


@pytest.mark.official
def test_a_line_holds_a_task(tmp_path: Path) -> None:
    """`make recorded` files outcomes of a task's samples, and a hash of all answers."""
    first, second = official.cruxeval(official_store())[:2]
    place = place_with_sources(tmp_path)
    answers = {second.task_id: ["0", second.output], first.task_id: [first.output, first.output, "0"]}
    scored = {second.task_id: [False, False], first.task_id: [True, True, True]}
    for name, texts, verdicts in (
        ("Coder_temp0.2_output", answers, scored),
        ("coder+cot_temp0.2_output", {first.task_id: [first.output]}, {first.task_id: [True]}),
    ):
        content = {"raw_generations": texts, "raw_scored_generations": verdicts}
        write_json(place.root / f"logs/cruxeval/{name}.json.gz", content)
    place.make_recorded(place.root / "logs")
    lines, _ = place.recorded("best-coder", OUTPUT, "cruxeval")
    texts_of_first = "\0".join(f"[ANSWER]\n{text}\n[/ANSWER]" for text in answers[first.task_id])
    assert lines[0] == {
        "task_id": first.task_id,
        "outcomes": "passed*2 failed",
        "answers": hashlib.sha256(texts_of_first.encode()).hexdigest()[:8],
        "differs": [2],
    }
    assert (lines[1]["outcomes"], lines[1]["differs"]) == ("failed passed", [1])
    file = RecordedFile(place.results, "cruxeval", "best-coder", OUTPUT)
    in_thought = RecordedFile(place.results, "cruxeval", "best-coder", f"{OUTPUT}@cot")
    assert in_thought.lines.is_file()  # the file's name tells side and style
    receipt = file.read_manifest().receipt
    assert (receipt.compared, receipt.equal) == (5, 3)
    place.expect("verify --models best-coder", 0)


@pytest.mark.slow
@pytest.mark.official
@pytest.mark.parametrize("graded", [True, False], ids=["graded", "generations"])
def test_answers_are_judged_here(tmp_path: Path, graded: bool) -> None:
    """Each answer of a file is a sample of its task, graded here, with or without CRUXEval's own verdicts."""
    row = official.cruxeval(official_store())[0]
    answers = {row.task_id: [row.output, "0"]}
    log = write_json(tmp_path / "answers.json", {"raw_generations": answers} if graded else answers)
    place = ImportPlace(tmp_path)
    place.bring("cruxeval", log, "--model", "m", "--suite", "runtime/cruxeval-output@cot")
    found = list(read_records(place.imported("m", "runtime/cruxeval-output@cot"), PredictionRecord))
    assert [(one.sample, one.prediction.correct) for one in found] == [(0, True), (1, False)]
