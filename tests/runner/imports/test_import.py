"""Other people's logs become our records: their replies, our judgement, filed apart."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from support.import_place import (
    FIRST,
    GOOD,
    PROBLEMS,
    SECOND,
    SUITE,
    WRONG,
    ImportPlace,
    evaloop_task,
    inspect_sample,
    write_json,
    write_lines,
)
from support.model_server import model_server_process
from triathlon_runner.datasets import core
from triathlon_runner.records import LoopRecord, Outcome, RuntimeRecord
from triathlon_runner.store import read_records
from triathlon_runner.verify._verify import _determined

TASKS = len(core.problems("seeds"))
ANSWERS = [FIRST.reference, SECOND.reference, WRONG]
RIGHT = [Outcome.PASSED, Outcome.PASSED, Outcome.CRASHED]
"""How the answers end: the third task's program defines another task's function."""
SOLUTIONS = [{"task_id": one.task_id, "solution": text} for one, text in zip(PROBLEMS, ANSWERS, strict=True)]
TO_SUITE = ("--suite", SUITE, "--model")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> ImportPlace:
    """A folder whose cache of answer keys all tests share."""
    return ImportPlace(tmp_path_factory.mktemp("imports"))


def test_samples(place: ImportPlace, tmp_path: Path) -> None:
    """EvalPlus samples are judged as they are, in the suite's order, and marked with their origin."""
    log = write_lines(tmp_path / "s.jsonl", *SOLUTIONS[::-1])
    shown = place.bring("evalplus", log, *TO_SUITE, "ep")
    assert f"pass@1 0.6667 over 3 of {TASKS} tasks: {TASKS - 3} have no graded sample" in shown
    assert place.outcomes("ep") == RIGHT
    assert (place.origin("ep")["format"], place.origin("ep")["file"]) == ("evalplus", "s.jsonl")
    assert not (place.results / "runs/ep").exists()
    place.expect("results list --no-check --json", 0, '"state": "imported: evalplus, s.jsonl"')
    again = place.bring("evalplus", log, *TO_SUITE, "ep", code=1)
    assert "is an import already" in again and f"results archive --models ep --suites {SUITE}" in again
    place.expect("results compact --models ep", 2, "expected measured results to keep without texts")
    place.expect("results archive --models ep", 0, "1 results file archived")
    place.bring("evalplus", log, *TO_SUITE, "ep")
    place.expect("results list --no-check", 0, "ep evolved/core-seeds 3 ? archived")


def test_imports_are_verified(place: ImportPlace, tmp_path: Path) -> None:
    """Whole programs, completions (which go on from the problem's prompt), replies and loops.

    In a loop each program is graded, each sentence is the next prompt.
    """
    texts = ("    return 'wrong'\n", "    return (\n", "")
    rows = [{"task_id": one.task_id, "completion": text} for one, text in zip(PROBLEMS, texts, strict=True)]
    place.bring("evalplus", write_lines(tmp_path / "c.jsonl", *rows), *TO_SUITE, "v-completions")
    assert place.outcomes("v-completions") == [Outcome.FAILED, Outcome.CRASHED, Outcome.NO_ANSWER]
    log = write_lines(tmp_path / "s.jsonl", *SOLUTIONS, {"task_id": FIRST.task_id, "solution": ""})
    place.bring("evalplus", log, *TO_SUITE, "v-programs")
    samples = [inspect_sample(one.task_id, text) for one, text in zip(PROBLEMS, ANSWERS, strict=True)]
    replies = write_json(tmp_path / "log.json", {"version": 2, "status": "success", "samples": samples})
    place.bring("inspect", replies, *TO_SUITE, "v-replies")
    loop = evaloop_task(FIRST.task_id, FIRST.reference, FIRST.reference, WRONG)
    page = write_json(tmp_path / "page.json", {"2": [{**loop, "successful_cycles": 2}], "10": []})
    place.bring("evaloop", page, "--suite", "loop/core", "--model", "v-loops")
    (record,) = read_records(place.imported("v-loops", "loop/core"), LoopRecord)
    assert record.sustained_loops == 2
    assert [step.summary for step in record.loops] == ["Write it.", "Write it.", None]
    assert "Write it." in record.loops[1].prompt
    models = "v-completions,v-programs,v-replies,v-loops"
    origin = "imported from evalplus, s.jsonl: that these are the log's replies"
    place.expect(f"verify --models {models}", 0, "11 units in 4 files", origin)
    lines = place.imported("v-programs")
    lines.write_text(lines.read_text().replace('"outcome":"no_answer"', '"outcome":"passed"'))
    place.expect(f"verify --models {models}", 1, "stored 'passed', graded again 'no_answer'")


CASE = {"index": 1, "input": "", "expected": ""}
SLOW = {"outcome": "timed_out", "passed": 1, "total": 2, "detail": "", "failing": {**CASE, "got": "slow"}}
FAST = SLOW | {"outcome": "crashed", "passed": 0}


@pytest.mark.parametrize(
    "hold",
    [
        lambda verdict: verdict,
        lambda verdict: {"verdict": verdict},
        lambda verdict: {"loops": [{"verdict": verdict, **verdict}]},
    ],
)
@pytest.mark.parametrize(
    ("other", "is_equal"),
    [
        (SLOW | {"passed": 0}, True),
        (FAST | {"failing": {**CASE, "got": "MemoryError: "}}, True),
        (FAST | {"failing": {**CASE, "got": "ValueError: "}}, False),
    ],
)
def test_the_machine_decides_which_limit_a_program_meets(hold: Any, other: Any, is_equal: bool) -> None:
    """How far it comes until then is no evidence, nor is whether it is the time or the memory."""
    first, later = (_determined({**hold(one), "outcome": one["outcome"]}) for one in (SLOW, other))
    assert (first == later) is is_equal
    failed = [_determined(hold(SLOW | {"outcome": "failed", "passed": count})) for count in (0, 1)]
    assert failed[0] != failed[1]


def test_a_full_disk_leaves_no_half_import(place: ImportPlace, tmp_path: Path) -> None:
    """A manifest without its lines would be warned about by every later command."""
    log = write_lines(tmp_path / "full.jsonl", GOOD)
    with patch("triathlon_runner.imports._import.replace_file", side_effect=OSError("no space left")):
        assert isinstance(place.call("import", "evalplus", str(log), "--suite", SUITE).exception, OSError)
    assert not [path for path in place.imported("full").parent.rglob("*.json*") if path.is_file()]


def _cases() -> list[dict[str, Any]]:
    """Logs, what is imported of them, and how that ends; `$RIGHT1` is the reference of the first problem."""
    text = Path(__file__).with_name("imports.json").read_text().replace("$WRONG", json.dumps(WRONG)[1:-1])
    for number, problem in enumerate(PROBLEMS, 1):
        values = {"TASK": problem.task_id, "NAME": problem.entry_point}
        for name, value in {**values, "PROMPT": problem.prompt, "RIGHT": problem.reference}.items():
            text = text.replace(f"${name}{number}", json.dumps(value)[1:-1])
    cases: list[dict[str, Any]] = json.loads(text)
    return cases


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["case"])
def test_what_is_imported_of_a_log(place: ImportPlace, tmp_path: Path, case: dict[str, Any]) -> None:
    """Outcomes and what is said of each log; of what does not fit nothing is filed."""
    for name, content in case["files"].items():
        if name.endswith(".jsonl"):
            write_lines(tmp_path / name, *content)
        else:
            write_json(tmp_path / name, content)
    for line, code, texts in case["steps"]:
        form, log, *options = line.split()
        shown = place.bring(form, tmp_path / log, *options, code=code)
        assert [text for text in texts if text not in shown] == [], shown
    for model, outcomes in case["outcomes"].items():
        assert place.outcomes(model) == outcomes if outcomes else not place.imported(*model.split()).exists()
    for model, fields in case.get("origin", {}).items():
        assert place.origin(model).items() >= fields.items()


@pytest.mark.slow
def test_reval(place: ImportPlace, tmp_path: Path) -> None:
    """REval's four logs are joined to units; our questions about them get their answers and our judgement."""
    with model_server_process("support.server_scripts:echo") as url:
        rows = f"models: [{{id: s, name: S, api: {{base_url: '{url}', model: scripted}}}}]"
        (place.root / "models.yaml").write_text(rows)
        place.expect("run --suites runtime/core --limit 1", 0)
    (ours,) = read_records(place.results / "runs/s/runtime/core.jsonl", RuntimeRecord)
    count, (program, _, index) = len(ours.statements), ours.task_id.rpartition("#")
    said = {"coverage": "YES[/ANSWER]", "state": "Nil", "path": "-1", "output": "assert True"}
    for task, text in said.items():
        results = [{"generated": text}] * (1 if task == "output" else count)
        generation = [{"input_idx": int(index), "results": results}]
        rows_of_task: list[dict[str, Any]] = [{"task_id": program, "generation": generation}, {"acc": 0.5}]
        write_lines(tmp_path / f"{task}@x_direct_0.8" / "24-01-01-00-00.jsonl", *rows_of_task)
    shown = place.bring("reval", tmp_path, "--suite", "runtime/core", "--model", "rv")
    assert "can exceed the published values" in shown
    (record,) = read_records(place.imported("rv", "runtime/core"), RuntimeRecord)
    assert record.task_id == ours.task_id
    assert [one.coverage.answer for one in record.statements] == ["YES"] * count
    assert (record.output.reply.text, record.output.correct) == ("assert True", False)
