"""Other people's logs, as they lie on disk, become our records: their replies, our judgement, filed apart."""

import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
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
    write_json,
    write_lines,
)
from support.model_server import model_server_process
from support.official_data import official_store
from support.replay_loop import recording
from triathlon_runner.datasets import core
from triathlon_runner.errors import UserError
from triathlon_runner.imports import FORMATS, logs_at, model_of
from triathlon_runner.records import FailingCase, LoopRecord, Outcome, RuntimeRecord, Verdict
from triathlon_runner.store import read_records
from triathlon_runner.verify._verify import _determined

TASKS = len(core.problems("seeds"))
TIME = "2026-11-26T06-41-54.187509"
ANSWERS = [FIRST.reference, SECOND.reference, WRONG]
RIGHT = [Outcome.PASSED, Outcome.PASSED, Outcome.CRASHED]
"""How the answers end: the third task's program defines another task's function."""
SOLUTIONS = [{"task_id": one.task_id, "solution": text} for one, text in zip(PROBLEMS, ANSWERS, strict=True)]
TO_SUITE = ("--suite", SUITE, "--model")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> ImportPlace:
    """A folder whose cache of answer keys all tests share."""
    return ImportPlace(tmp_path_factory.mktemp("imports"))


def read(form: str, path: Path) -> list[Any]:
    return list(FORMATS[form].read(path))


def test_samples(place: ImportPlace, tmp_path: Path) -> None:
    """EvalPlus samples are judged as they are, in the suite's order, and marked with their origin.

    The command says the score, of how many tasks it is, and how many have no sample.
    """
    log = write_lines(tmp_path / "s.jsonl", *SOLUTIONS[::-1])
    shown = place.bring("evalplus", log, *TO_SUITE, "ep")
    assert f"pass@1 0.6667 over 3 of {TASKS} tasks: {TASKS - 3} have no sample in the log" in shown
    assert place.outcomes("ep") == RIGHT
    assert (place.origin("ep")["format"], place.origin("ep")["file"]) == ("evalplus", "s.jsonl")
    assert not (place.results / "runs/ep").exists()
    listed = json.loads(place.call("results", "list", "--no-check", "--json").output)
    assert "imported: evalplus, s.jsonl" in [row["state"] for row in listed if row["model"] == "ep"]
    assert "is an import already" in place.bring("evalplus", log, *TO_SUITE, "ep", code=1)


def test_completions(place: ImportPlace, tmp_path: Path) -> None:
    """A completion goes on from the problem's prompt, as the formats have it; an empty one is no answer."""
    texts = ("    return 'wrong'\n", "    return (\n", "")
    rows = [{"task_id": one.task_id, "completion": text} for one, text in zip(PROBLEMS, texts, strict=True)]
    place.bring("evalplus", write_lines(tmp_path / "s.jsonl", *rows), *TO_SUITE, "completed")
    assert place.outcomes("completed") == [Outcome.FAILED, Outcome.CRASHED, Outcome.NO_ANSWER]
    assert place.call("verify", "--models", "completed").exit_code == 0


def test_imports_are_verified(place: ImportPlace, tmp_path: Path) -> None:
    """`verify` grades what was imported again: whole programs, replies and loops, as far as they tell."""
    log = write_lines(tmp_path / "s.jsonl", *SOLUTIONS, {"task_id": FIRST.task_id, "solution": ""})
    place.bring("evalplus", log, *TO_SUITE, "v-programs")
    samples = [inspect_sample(one.task_id, text) for one, text in zip(PROBLEMS, ANSWERS, strict=True)]
    place.bring("inspect", as_json(tmp_path / "log", samples), *TO_SUITE, "v-replies")
    page = write_json(tmp_path / "page.json", {"1": [evaloop_task(FIRST.task_id, FIRST.reference, WRONG)]})
    place.bring("evaloop", page, "--suite", "loop/core", "--model", "v-loops")
    models = "v-programs,v-replies,v-loops"
    result = place.call("verify", "--models", models)
    assert result.exit_code == 0, result.output
    assert "8 units in 3 files" in result.output
    assert "imported from evalplus, s.jsonl: that these are the log's replies" in result.output
    lines = place.imported("v-programs")
    lines.write_text(lines.read_text().replace('"outcome":"no_answer"', '"outcome":"passed"'))
    result = place.call("verify", "--models", models)
    assert result.exit_code == 1
    assert "stored 'passed', graded again 'no_answer'" in result.output


INSPECT = {"id": "a", "input": "x"}


def _said(content: object) -> dict[str, Any]:
    """An output of inspect_ai with this content."""
    return {"choices": [{"message": {"content": content}}]}


@pytest.mark.parametrize(
    ("form", "row", "says"),
    [
        ("lm-eval", {"doc": {}, "filtered_resps": []}, "doc.task_id"),
        ("evaloop", {"0": {"task_id": "a"}}, "lists of tasks"),
        ("evaloop", {"0": [{"task_id": "a", "initial_prompt": "", "cycles": [3]}]}, "expected a JSON object"),
        ("inspect", {"status": "success"}, "samples"),
        ("inspect", {"samples": ["a"]}, "expected a JSON object, got 'a'"),
        ("inspect", {"samples": [INSPECT | {"output": _said(3)}]}, "expected a text or its parts, got 3"),
        ("every-eval-ever", {"sample_id": "a", "metadata": "x"}, "line 1, metadata: expected a JSON object"),
        (
            "every-eval-ever",
            {"sample_id": "a", "interaction_type": "multi_turn", "messages": ["x"]},
            "line 1, messages: expected a JSON object",
        ),
        ("every-eval-ever", {"sample_id": "a#0", "output": {"raw": []}}, "a reported one"),
        ("evalplus", {"results": {}}, "one JSON document with the keys results"),
    ],
    ids=str,
)
def test_other_shapes_are_refused(tmp_path: Path, form: str, row: dict[str, Any], says: str) -> None:
    """A log of another shape is a user's error that says what was expected."""
    with pytest.raises(UserError) as caught:
        read(form, write_lines(tmp_path / "log.jsonl", row))
    assert says in str(caught.value)


def test_nothing_is_filed_of_what_does_not_fit(place: ImportPlace, tmp_path: Path) -> None:
    """Neither samples of programs as loops nor a log of another shape."""
    log = write_lines(tmp_path / "s.jsonl", {"task_id": "a", "solution": "x"})
    assert "asks in another way" in place.bring("evalplus", log, "--suite", "loop/core", code=1)
    log = write_lines(tmp_path / "bad.jsonl", {"doc": {}})
    assert "doc.task_id" in place.bring("lm-eval", log, *TO_SUITE, "bad", code=1)
    assert not place.imported("bad").exists()


# lm-evaluation-harness


def lm_eval_row(program: str, reply: str = "", **more: Any) -> dict[str, Any]:
    doc = {"task_id": FIRST.task_id, "prompt": FIRST.prompt, "entry_point": FIRST.entry_point}
    row = {"doc_id": 0, "doc": doc, "resps": [[reply or program]], "filtered_resps": [[program]]}
    return {**row, "filter": "create_test", "metrics": ["pass@1"], **more}


EATEN = FIRST.reference.replace("def ", "", 1)


@pytest.mark.parametrize(
    ("row", "program"),
    [
        (lm_eval_row(FIRST.reference), FIRST.reference),
        (lm_eval_row("", filtered_resps=[FIRST.reference]), FIRST.reference),
        (lm_eval_row(EATEN, f"{FIRST.reference}```"), FIRST.reference),
        (lm_eval_row(EATEN), EATEN),
    ],
    ids=["nested", "not nested", "the filter lost text", "the model wrote it so"],
)
def test_lm_evals_programs(tmp_path: Path, row: dict[str, Any], program: str) -> None:
    """Those that were tested; one that its filter broke is taken out of the reply."""
    (unit,) = read("lm-eval", write_lines(tmp_path / "s.jsonl", row))
    assert (unit.text.strip(), unit.is_program) == (program.strip(), True)


def test_lm_evals_output_folder(place: ImportPlace, tmp_path: Path) -> None:
    """Its results_*.json is no log, its folder names the model, and its metric is compared with ours."""
    folder = tmp_path / "out/my-org__My-Model-7B"
    rows = [lm_eval_row(program) | {"pass@1": 1.0} for program in (FIRST.reference, WRONG)]
    write_lines(folder / f"samples_seeds_{TIME}.jsonl", *rows)
    (folder / f"results_{TIME}.json").write_text(json.dumps({"results": {}}, indent=2))
    shown = place.bring("lm-eval", tmp_path / "out", "--suite", SUITE)
    assert f"2 units of samples_seeds_{TIME}.jsonl imported into" in shown
    assert place.outcomes("my-org__my-model-7b") == [Outcome.PASSED, Outcome.FAILED]
    assert f"equal in 1 of 2; {FIRST.task_id} #1: theirs passed, ours failed" in shown


def test_several_logs_of_one_model_are_named(place: ImportPlace, tmp_path: Path) -> None:
    """None of them is chosen in silence."""
    for task in ("a", "b"):
        write_lines(tmp_path / f"m/samples_{task}_{TIME}.jsonl", lm_eval_row(WRONG))
    for options in ((), ("--model", "x")):
        said = place.bring("lm-eval", tmp_path / "m", "--suite", SUITE, *options, code=1)
        assert f"got 2{' (' if options else ''}" in said
        assert f"samples_a_{TIME}.jsonl, samples_b_{TIME}.jsonl" in said


def test_one_filter_of_lm_eval_is_read(place: ImportPlace, tmp_path: Path) -> None:
    """The first, and the other is named; --filter chooses, and leaves nothing out."""
    log = write_lines(tmp_path / "s.jsonl", lm_eval_row(FIRST.reference), lm_eval_row(WRONG, filter="strict"))
    shown = place.bring("lm-eval", log, *TO_SUITE, "first", code=1)
    assert "it is of the filter 'strict'; 'create_test', the first" in shown
    place.bring("lm-eval", log, *TO_SUITE, "strict", "--filter", "strict")
    assert place.outcomes("first") + place.outcomes("strict") == [Outcome.PASSED, Outcome.FAILED]
    for form, expected in (("lm-eval", "create_test, strict"), ("evalplus", "with lm-eval")):
        assert expected in place.bring(form, log, *TO_SUITE, "none", "--filter", "x", code=1)


# Samples of programs


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


def test_evalplus_folder_of_files(tmp_path: Path) -> None:
    """Of the samples, their raw replies and their results the last alone is read, under the samples' name."""
    for name in ("m_temp_0.0.jsonl", "m_temp_0.0.raw.jsonl", "other.jsonl"):
        write_lines(tmp_path / name, GOOD)
    graded = tmp_path / "m_temp_0.0_eval_results.json"
    write_json(graded, {"eval": {FIRST.task_id: [GOOD]}})
    found = [(log.name, model_of(log)) for log in logs_at(FORMATS["evalplus"], [tmp_path])]
    assert found == [(graded.name, "m_temp_0.0"), ("other.jsonl", "other")]


# inspect_ai


def inspect_sample(task: str | int, program: str = FIRST.reference, **more: Any) -> dict[str, Any]:
    reply = f"Sure!\n```python\n{program}\n```\nDone."
    return {"id": task, "input": [{"role": "user", "content": FIRST.prompt}], "output": _said(reply), **more}


def as_json(path: Path, samples: list[dict[str, Any]], status: str = "success") -> Path:
    return write_json(path.with_suffix(".json"), {"version": 2, "status": status, "samples": samples})


def _members(samples: list[dict[str, Any]]) -> dict[str, bytes]:
    packed = {f"samples/{n}_epoch_1.json": json.dumps(sample).encode() for n, sample in enumerate(samples)}
    return {"header.json": b"{}"} | packed


def as_zip(path: Path, samples: list[dict[str, Any]], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path.with_suffix(".eval"), "w", method) as archive:
        for name, data in _members(samples).items():
            archive.writestr(name, data)
    return path.with_suffix(".eval")


def as_stored_zip(path: Path, samples: list[dict[str, Any]]) -> Path:
    return as_zip(path, samples, zipfile.ZIP_STORED)


def as_zstd(path: Path, samples: list[dict[str, Any]]) -> Path:
    """A zip as inspect_ai writes it today: what is stored is packed, and both headers say so."""
    path, members = path.with_suffix(".eval"), _members(samples)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, pa.compress(data, codec="zstd", asbytes=True))
        places = [info.header_offset for info in archive.infolist()]
    raw = bytearray(path.read_bytes())
    central = raw.index(b"PK\x01\x02")
    for place, (name, data) in zip(places, members.items(), strict=True):
        for header, method in ((place, 8), (central, 10)):
            raw[header + method : header + method + 2] = struct.pack("<H", 93)
            crc = header + method + 6
            raw[crc : crc + 4] = struct.pack("<I", zlib.crc32(data))
            raw[crc + 8 : crc + 12] = struct.pack("<I", len(data))
        central += 46 + len(name)
    path.write_bytes(raw)
    return path


Pack = Callable[[Path, list[dict[str, Any]]], Path]


@pytest.mark.parametrize("pack", [as_json, as_zip, as_zstd])
def test_inspects_samples(tmp_path: Path, pack: Pack) -> None:
    """Its JSON, its zip and that of today hold the same; why a sample has no reply, or a cut one, is told."""
    whole = inspect_sample("a")["output"]["choices"][0]["message"]["content"]
    parts = [{"type": "reasoning", "reasoning": "def x"}, {"type": "text", "text": whole}]
    cut = {"choices": [{"message": {"content": "def"}, "stop_reason": "max_tokens"}]}
    samples = [
        inspect_sample("a"),
        inspect_sample("b", output=_said(parts)),
        inspect_sample("c", output=cut),
        inspect_sample("d", output={"choices": []}, limit={"type": "message"}),
        {"id": "e", "error": {"message": "x"}, "output": None},
    ]
    units = read("inspect", pack(tmp_path / "log", samples))
    assert [(unit.task_id, unit.text, unit.cut) for unit in units] == [
        *(("a", whole, False), ("b", whole, False), ("c", "def", True), ("d", "", False), ("e", "", False))
    ]
    no_choices = "it has no reply: its output has no choices (it met its limit: message)"
    assert [unit.error for unit in units] == ["", "", "", no_choices, "it ended in an error: x"]


@pytest.mark.parametrize("pack", [as_stored_zip, as_zip, as_zstd])
@pytest.mark.parametrize("part", ["sample", "list of members"])
def test_a_damaged_log_is_a_users_error(tmp_path: Path, pack: Pack, part: str) -> None:
    """Bytes that were overwritten, in a sample or in the zip's list of members, are said."""
    log = pack(tmp_path / "log", [inspect_sample("a"), inspect_sample("b")])
    whole = log.read_bytes()
    at = whole.index(b"1_epoch_1.json") + 20 if part == "sample" else whole.index(b"PK\x01\x02")
    log.write_bytes(whole[:at] + b"\xff" * 4 + whole[at + 4 :])
    with pytest.raises(UserError, match="cannot be unpacked"):
        read("inspect", log)


def test_inspects_scores_and_status(place: ImportPlace, tmp_path: Path) -> None:
    """A scorer's verdict is compared with ours; scorers that differ have none; a cancelled log says so.

    A reply that a limit of tokens cut is truncated; a sample without one is left out and named.
    """
    samples = [
        inspect_sample(FIRST.task_id, scores={"verify": {"value": value}, **more})
        for value, more in (("C", {}), ("I", {}), (1.0, {}), ("C", {"other": {"value": "I"}}))
    ]
    text = f"```python\ndef {SECOND.entry_point}(a):\n    for"
    cut = {"choices": [{"message": {"content": text}, "stop_reason": "max_tokens"}]}
    samples += [inspect_sample(SECOND.task_id, output=cut), inspect_sample(THIRD.task_id, output={})]
    log = as_json(tmp_path / "cut", samples, "cancelled")
    shown = place.bring("inspect", log, "--suite", SUITE, code=1)
    assert f"equal in 2 of 3; {FIRST.task_id} #1: theirs failed, ours passed" in shown
    assert f"left out {THIRD.task_id}, sample 6 of the log: it has no reply" in shown
    assert place.outcomes("cut") == [Outcome.PASSED] * 4 + [Outcome.TRUNCATED]
    assert "the log says of itself: cancelled" in shown
    assert place.origin("cut")["status"] == "cancelled"


def test_inspects_automatic_ids(place: ImportPlace, tmp_path: Path) -> None:
    """1, 2, 3 are the samples' numbers: none is graded against a task that its text does not name."""
    shown = place.bring("inspect", as_json(tmp_path / "auto", [inspect_sample(3)]), "--suite", SUITE, code=1)
    assert "left out 3: the suite has no such task" in shown and "nothing was imported" in shown


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


@pytest.mark.slow
def test_reval(place: ImportPlace, tmp_path: Path) -> None:
    """REval's four logs are joined to units; our questions about them get their answers and our judgement."""
    unit, count = first_unit(place)
    program, _, index = unit.rpartition("#")
    said = {"coverage": "YES[/ANSWER]", "state": "Nil", "path": "-1", "output": "assert True"}
    for task, text in said.items():
        results = [{"generated": text}] * (1 if task == "output" else count)
        generation = [{"input_idx": int(index), "results": results}]
        rows: list[dict[str, Any]] = [{"task_id": program, "generation": generation}, {"acc": 0.5}]
        write_lines(tmp_path / f"{task}@x_direct_0.8" / "24-01-01-00-00.jsonl", *rows)
    shown = place.bring("reval", tmp_path, "--suite", "runtime/core", "--model", "rv")
    assert "can exceed the published values" in shown
    (record,) = read_records(place.imported("rv", "runtime/core"), RuntimeRecord)
    assert record.task_id == unit
    assert [one.coverage.answer for one in record.statements] == ["YES"] * count
    assert record.output.reply.text == "assert True"
    assert not record.output.correct


def first_unit(place: ImportPlace) -> tuple[str, int]:
    """The first unit of runtime/core and how many statements it has, by a run against a silent model."""
    with model_server_process("support.server_scripts:echo") as url:
        rows = f"models: [{{id: s, name: S, api: {{base_url: '{url}', model: scripted}}}}]"
        (place.root / "models.yaml").write_text(rows)
        assert place.call("run", "--suites", "runtime/core", "--limit", "1").exit_code == 0
    (record,) = read_records(place.results / "runs" / "s" / "runtime" / "core.jsonl", RuntimeRecord)
    return record.task_id, len(record.statements)


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
