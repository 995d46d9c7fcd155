"""Other people's logs become our records: their replies, our judgement, filed apart with their origin."""

import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import Result

from support.model_server import model_server_process
from support.official_data import official_store
from support.replay_loop import recording
from support.small_run import SmallRun
from triathlon_runner.datasets import core
from triathlon_runner.errors import UserError
from triathlon_runner.imports import FORMATS
from triathlon_runner.records import EvolvedRecord, LoopRecord, Manifest, Outcome, RuntimeRecord
from triathlon_runner.store import read_records

PROBLEMS = core.problems("seeds")[:3]
WRONG = "def nothing():\n    return None\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A folder whose cache of answer keys all tests share."""
    return SmallRun(tmp_path_factory.mktemp("imports"))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def bring(place: SmallRun, form: str, log: Path, suite: str, model: str) -> Result:
    return place.call("import", form, str(log), "--suite", suite, "--model", model)


def folder(place: SmallRun, model: str) -> Path:
    return place.results / "imported" / "runs" / model


def outcomes(place: SmallRun, model: str) -> list[Outcome]:
    lines = folder(place, model) / "evolved" / "core-seeds.jsonl"
    return [record.outcome for record in read_records(lines, EvolvedRecord)]


ANSWERS = [PROBLEMS[0].reference, PROBLEMS[1].reference, WRONG]
"""Two right programs and a wrong one."""
RIGHT = [True, True, False]
SOLUTIONS = [{"task_id": one.task_id, "solution": text} for one, text in zip(PROBLEMS, ANSWERS, strict=True)]


def passed(place: SmallRun, model: str) -> list[bool]:
    return [one is Outcome.PASSED for one in outcomes(place, model)]


def test_samples(place: SmallRun, tmp_path: Path) -> None:
    """EvalPlus samples are judged as they are, in the suite's order, and marked with their origin."""
    log = write_lines(tmp_path / "s.jsonl", SOLUTIONS[::-1])
    result = bring(place, "evalplus", log, "evolved/core-seeds", "ep")
    assert result.exit_code == 0, result.output
    assert passed(place, "ep") == RIGHT
    manifest = Manifest.model_validate_json(
        (folder(place, "ep") / "evolved" / "core-seeds.manifest.json").read_bytes()
    )
    assert manifest.origin is not None
    assert (manifest.origin["format"], manifest.origin["file"]) == ("evalplus", "s.jsonl")
    assert not (place.results / "runs" / "ep").exists()
    listed = json.loads(place.call("results", "list", "--no-check", "--json").output)
    assert "imported: evalplus, s.jsonl" in [row["state"] for row in listed if row["model"] == "ep"]
    again = bring(place, "evalplus", log, "evolved/core-seeds", "ep")
    assert "is an import already" in str(again.exception)


def test_completions(place: SmallRun, tmp_path: Path) -> None:
    """A completion goes on from the problem's prompt, as the formats have it; an empty one is no answer."""
    rows = [
        {"task_id": one.task_id, "completion": text}
        for one, text in zip(PROBLEMS, ["    return 'wrong'\n", "    return (\n", ""], strict=True)
    ]
    log = write_lines(tmp_path / "s.jsonl", rows)
    assert bring(place, "evalplus", log, "evolved/core-seeds", "completed").exit_code == 0
    assert outcomes(place, "completed") == [Outcome.FAILED, Outcome.CRASHED, Outcome.NO_ANSWER]
    assert place.call("verify", "--models", "completed").exit_code == 0


def test_imports_are_verified(place: SmallRun, tmp_path: Path) -> None:
    """`verify` grades what was imported again: whole programs, replies and loops, as far as they tell."""
    rows = [*SOLUTIONS, {"task_id": PROBLEMS[0].task_id, "solution": ""}]
    bring(place, "evalplus", write_lines(tmp_path / "s.jsonl", rows), "evolved/core-seeds", "v-programs")
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"version": 2, "samples": inspect_samples()}))
    bring(place, "inspect", log, "evolved/core-seeds", "v-replies")
    page = tmp_path / "page.json"
    cycles = [cycle(PROBLEMS[0].reference, "Write it."), cycle(WRONG, "And again.")]
    task = {"task_id": PROBLEMS[0].task_id, "initial_prompt": "X", "cycles": cycles}
    page.write_text(json.dumps({"1": [task]}))
    bring(place, "evaloop", page, "loop/core", "v-loops")
    models = "v-programs,v-replies,v-loops"
    result = place.call("verify", "--models", models)
    assert result.exit_code == 0, result.output
    assert "8 units in 3 files" in result.output
    assert "imported from evalplus, s.jsonl: that these are the log's replies" in result.output
    lines = folder(place, "v-programs") / "evolved" / "core-seeds.jsonl"
    lines.write_text(lines.read_text().replace('"outcome":"no_answer"', '"outcome":"passed"'))
    result = place.call("verify", "--models", models)
    assert result.exit_code == 1
    assert "stored 'passed', graded again 'no_answer'" in result.output


def test_what_is_not_ours_is_left_out(place: SmallRun, tmp_path: Path) -> None:
    """A task that the suite does not have is named, with exit code 1."""
    rows = [{"task_id": "HumanEval/0", "solution": "x = 1"}]
    result = bring(place, "evalplus", write_lines(tmp_path / "s.jsonl", rows), "evolved/core-seeds", "other")
    assert result.exit_code == 1
    assert "left out HumanEval/0: the suite has no such task" in result.output


INSPECT = {"id": "a", "input": "x"}


def _said(content: object) -> dict[str, Any]:
    """An output of inspect_ai with this content."""
    return {"choices": [{"message": {"content": content}}]}


@pytest.mark.parametrize(
    ("form", "row", "says"),
    [
        ("lm-eval", {"doc": {}, "filtered_resps": []}, "doc.task_id"),
        ("evaloop", {"0": {"task_id": "a"}}, "lists of tasks"),
        ("inspect", {"status": "success"}, "samples"),
        ("inspect", {"samples": ["a"]}, "expected an object, got 'a'"),
        ("inspect", {"samples": [INSPECT | {"output": _said(3)}]}, "expected a text or its parts, got 3"),
        ("evaloop", {"0": [{"task_id": "a", "initial_prompt": "", "cycles": [3]}]}, "expected an object"),
        ("every-eval-ever", {"sample_id": "a", "metadata": "x"}, "line 1, metadata: expected an object"),
        (
            "every-eval-ever",
            {"sample_id": "a", "interaction_type": "multi_turn", "messages": ["x"]},
            "line 1, messages: expected an object",
        ),
        ("every-eval-ever", {"sample_id": "a#0", "output": {"raw": []}}, "a reported one"),
        ("evalplus", {"results": {}}, "one JSON document with the keys results"),
    ],
    ids=str,
)
def test_other_shapes_are_refused(
    place: SmallRun, tmp_path: Path, form: str, row: dict[str, Any], says: str
) -> None:
    """A log of another shape is a user's error that says what was expected."""
    suite = "loop/core" if form == "evaloop" else "evolved/core-seeds"
    result = bring(place, form, write_lines(tmp_path / "log.jsonl", [row]), suite, "bad")
    assert says in str(result.exception)
    assert not (folder(place, "bad") / f"{suite}.jsonl").exists()


def test_the_discipline_must_fit(place: SmallRun, tmp_path: Path) -> None:
    """Samples of programs are no loops."""
    log = write_lines(tmp_path / "s.jsonl", [{"task_id": "a", "solution": "x"}])
    assert "asks in another way" in str(bring(place, "evalplus", log, "loop/core", "m").exception)


def test_lm_eval(place: SmallRun, tmp_path: Path) -> None:
    """lm-evaluation-harness' samples hold the tested programs in filtered_resps, nested or not."""
    rows = [
        {"doc": {"task_id": one.task_id, "prompt": one.prompt}, "resps": [["…"]], "filtered_resps": [[text]]}
        for one, text in zip(PROBLEMS, ANSWERS, strict=True)
    ]
    rows[1]["filtered_resps"] = [ANSWERS[1]]
    log = write_lines(tmp_path / "samples_humaneval.jsonl", rows)
    assert bring(place, "lm-eval", log, "evolved/core-seeds", "lm").exit_code == 0
    assert passed(place, "lm") == RIGHT


def test_lm_eval_where_the_filter_lost_text(place: SmallRun, tmp_path: Path) -> None:
    """A program that does not parse any more is taken out of the reply; one that was written so is not."""
    one = PROBLEMS[0]
    doc = {"task_id": one.task_id, "prompt": one.prompt, "entry_point": one.entry_point}
    eaten = one.reference.replace("def ", "", 1)
    rows = [
        {"doc": doc, "resps": [[f"{one.reference}```"]], "filtered_resps": [[eaten]]},
        {"doc": doc, "resps": [[eaten]], "filtered_resps": [[eaten]]},
    ]
    log = write_lines(tmp_path / "s.jsonl", rows)
    assert bring(place, "lm-eval", log, "evolved/core-seeds", "eaten").exit_code == 0
    assert outcomes(place, "eaten") == [Outcome.PASSED, Outcome.CRASHED]


def test_inspect_cut_and_without_a_reply(place: SmallRun, tmp_path: Path) -> None:
    """A reply that a limit of tokens cut is truncated; a sample without one is left out and named."""
    one, two = PROBLEMS[:2]
    message = {"content": f"```python\ndef {one.entry_point}(a):\n    for"}
    cut = {"choices": [{"message": message, "stop_reason": "max_tokens"}]}
    samples = [
        {"id": one.task_id, "input": one.prompt, "output": cut},
        {"id": two.task_id, "input": two.prompt, "output": {"choices": []}, "limit": {"type": "message"}},
    ]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"version": 2, "samples": samples}))
    result = bring(place, "inspect", log, "evolved/core-seeds", "in-cut")
    assert outcomes(place, "in-cut") == [Outcome.TRUNCATED]
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert f"left out {two.task_id}, sample 2 of the log: it has no reply" in said
    assert "it met its limit: message" in said


def inspect_samples() -> list[dict[str, Any]]:
    said: list[Any] = [f"Sure!\n```python\n{text}\n```\nDone." for text in ANSWERS]
    said[1] = [{"type": "reasoning", "reasoning": "def x"}, {"type": "text", "text": said[1]}]
    return [
        {"id": one.task_id, "input": one.prompt, "output": {"choices": [{"message": {"content": text}}]}}
        for one, text in zip(PROBLEMS, said, strict=True)
    ]


@pytest.mark.parametrize("packed", [True, False], ids=["eval", "json"])
def test_inspect(place: SmallRun, tmp_path: Path, packed: bool) -> None:
    """inspect_ai's replies go through our extraction; its zip and its JSON hold the same.

    A sample that ended in an error is named, with the error.
    """
    log = tmp_path / ("log.eval" if packed else "log.json")
    samples = [*inspect_samples(), {"id": "failed", "error": {"message": "x"}, "output": None}]
    if packed:
        with zipfile.ZipFile(log, "w") as archive:
            archive.writestr("header.json", "{}")
            for number, sample in enumerate(samples):
                archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    else:
        log.write_text(json.dumps({"version": 2, "samples": samples}))
    result = bring(place, "inspect", log, "evolved/core-seeds", f"in-{log.suffix[1:]}")
    assert result.exit_code == 1
    assert "failed, sample 4 of the log: it ended in an error: x" in " ".join(result.output.split())
    assert passed(place, f"in-{log.suffix[1:]}") == RIGHT


def pack_with_zstd(path: Path, members: dict[str, bytes]) -> None:
    """A zip as inspect_ai writes it today: what is stored is packed, and both headers say so."""
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


def test_inspect_packed_with_zstd(place: SmallRun, tmp_path: Path) -> None:
    """inspect_ai's logs of today are packed with zstd; a damaged one is a user's error."""
    log = tmp_path / "log.eval"
    members = {"header.json": b"{}"}
    members |= {
        f"samples/{number}_epoch_1.json": json.dumps(sample).encode()
        for number, sample in enumerate(inspect_samples())
    }
    pack_with_zstd(log, members)
    assert bring(place, "inspect", log, "evolved/core-seeds", "in-zstd").exit_code == 0
    assert passed(place, "in-zstd") == RIGHT
    whole = log.read_bytes()
    middle = whole.index(b"samples/1") + 40
    log.write_bytes(whole[:middle] + bytes(200) + whole[middle + 200 :])
    result = bring(place, "inspect", log, "evolved/core-seeds", "in-torn")
    assert "cannot be unpacked" in str(result.exception)


def cycle(program: str, sentence: str) -> dict[str, str]:
    return {"code_output": program, "summary_output": f'"""\n{sentence}\nassert f(1) == 1\n"""\n'}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "packed"])
@pytest.mark.parametrize("place", ["start", "list of members"])
def test_a_damaged_log_is_a_users_error(tmp_path: Path, method: int, place: str) -> None:
    """Bytes that were overwritten, in a sample or in the zip's list of members, are said."""
    log = tmp_path / "log.eval"
    with zipfile.ZipFile(log, "w", method) as archive:
        archive.writestr("samples/a_epoch_1.json", json.dumps(inspect_samples()[0]))
    whole = log.read_bytes()
    at = whole.index(b"a_epoch_1.json") + 20 if place == "start" else whole.index(b"PK\x01\x02")
    log.write_bytes(whole[:at] + b"\xff" * 4 + whole[at + 4 :])
    with pytest.raises(UserError, match="cannot be unpacked"):
        list(FORMATS["inspect"].read(log))


def test_evaloop(place: SmallRun, tmp_path: Path) -> None:
    """EVALOOOP's pages become loops: each program is graded, each sentence is the next prompt."""
    one = PROBLEMS[0]
    cycles = [cycle(one.reference, "Write it."), cycle(one.reference, "Again."), cycle(WRONG, "And again.")]
    task = {"task_id": one.task_id, "initial_prompt": '"""\nX\nassert f(1) == 1\n"""', "cycles": cycles}
    log = tmp_path / "page.json"
    log.write_text(json.dumps({"2": [{**task, "successful_cycles": 2}], "10": []}))
    result = bring(place, "evaloop", log, "loop/core", "page")
    assert result.exit_code == 0, result.output
    (record,) = read_records(folder(place, "page") / "loop" / "core.jsonl", LoopRecord)
    assert (record.sustained_loops, len(record.loops)) == (2, 3)
    assert [step.summary for step in record.loops] == ["Write it.", "Again.", None]
    assert "Write it." in record.loops[1].prompt


def test_a_loop_that_we_judge_longer_is_left_out(place: SmallRun, tmp_path: Path) -> None:
    """What a program that passes here and failed there leads to was never asked: nothing is made up."""
    one = PROBLEMS[1]
    task = {"task_id": one.task_id, "initial_prompt": "X", "cycles": [cycle(one.reference, "Write it.")]}
    log = tmp_path / "page.json"
    log.write_text(json.dumps({"0": [task]}))
    result = bring(place, "evaloop", log, "loop/core", "longer")
    assert result.exit_code == 1
    said = f"left out {one.task_id}: passes here, failed there; the log has no further reply\n"
    assert said in result.output
    assert result.output.endswith("1 of 1 unit left out, as listed above\n")
    assert "nothing was imported" in result.output
    assert not (folder(place, "longer") / "loop" / "core.jsonl").exists()


@pytest.mark.slow
def test_reval(place: SmallRun, tmp_path: Path) -> None:
    """REval's four logs are joined to units; our questions about them get their answers and our judgement."""
    for task in ("coverage", "state", "path", "output"):
        (tmp_path / f"{task}@x_direct_0.8").mkdir()
    unit, count = first_unit(place)
    program, _, index = unit.rpartition("#")
    said = {"coverage": "YES[/ANSWER]", "state": "Nil", "path": "-1", "output": "assert True"}
    for task, text in said.items():
        results = [{"generated": text}] * (1 if task == "output" else count)
        rows: list[dict[str, Any]] = [
            {"task_id": program, "generation": [{"input_idx": int(index), "results": results}]},
            {"acc": 0.5},
        ]
        write_lines(tmp_path / f"{task}@x_direct_0.8" / "24-01-01-00-00.jsonl", rows)
    result = bring(place, "reval", tmp_path, "runtime/core", "rv")
    assert result.exit_code == 0, result.output
    assert "can exceed the published values" in " ".join(result.output.split())
    (record,) = read_records(folder(place, "rv") / "runtime" / "core.jsonl", RuntimeRecord)
    assert record.task_id == unit
    assert [one.coverage.answer for one in record.statements] == ["YES"] * count
    assert record.output.reply.text == "assert True"
    assert not record.output.correct


def first_unit(place: SmallRun) -> tuple[str, int]:
    """The first unit of runtime/core and how many statements it has, by a run against a silent model."""
    with model_server_process("support.server_scripts:echo") as url:
        rows = f"models: [{{id: s, name: S, api: {{base_url: '{url}', model: scripted}}}}]"
        (place.root / "models.yaml").write_text(rows)
        assert place.call("run", "--suites", "runtime/core", "--limit", "1").exit_code == 0
    (record,) = read_records(place.results / "runs" / "s" / "runtime" / "core.jsonl", RuntimeRecord)
    return record.task_id, len(record.statements)


@pytest.mark.slow
@pytest.mark.official
def test_recorded_loops(place: SmallRun, tmp_path: Path) -> None:
    """Of a real model's stored run, a dozen tasks from every count of loops are imported with that count."""
    tasks = recording("loop-gpt-3.5-turbo")
    chosen: dict[int, list[dict[str, Any]]] = {}
    for task in tasks:
        if len(chosen.setdefault(task["successful_cycles"], [])) < 2:
            chosen[task["successful_cycles"]].append(task)
    log = tmp_path / "page.json"
    log.write_text(json.dumps({str(loops): found for loops, found in chosen.items()}))
    data = official_store().folder
    result = place.call(
        "import", "evaloop", str(log), "--suite", "loop/mbpp-plus", "--model", "recorded", "--data", str(data)
    )
    assert result.exit_code == 0, result.output
    records = read_records(folder(place, "recorded") / "loop" / "mbpp-plus.jsonl", LoopRecord)
    expected = {task["task_id"]: task["successful_cycles"] for found in chosen.values() for task in found}
    assert {record.task_id: record.sustained_loops for record in records} == expected
