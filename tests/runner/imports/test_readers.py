"""Other programs' logs, as they lie on disk: what each reader takes from them, and what it refuses."""

import json
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from support.import_place import FIRST, GOOD, inspect_sample, said, write_json, write_lines
from triathlon_runner.datasets import Problem
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import PACKED_ENDINGS
from triathlon_runner.grading import TaskNames
from triathlon_runner.imports import FORMATS, logs_at, model_of, read_livecodebench

Pack = Callable[[Path, list[dict[str, Any]]], Path]


def read(form: str, path: Path) -> list[Any]:
    return list(FORMATS[form].read(path))


@pytest.mark.parametrize(
    "case", json.loads(Path(__file__).with_name("logs.json").read_text()), ids=lambda case: case["case"]
)
def test_what_is_read_of_a_log(tmp_path: Path, case: dict[str, Any]) -> None:
    """What each sample says is taken or left out with the reason; a log of another shape is refused."""
    log = tmp_path / case.get("name", "log.jsonl")
    log.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in case["rows"]))
    if "refused" in case:
        with pytest.raises(UserError) as caught:
            read(case["form"], log)
        assert case["refused"] in str(caught.value)
        return
    for unit, wanted in zip(read(case["form"], log), case["units"], strict=True):
        for name, value in wanted.items():
            found = unit.theirs.base if name == "base" else getattr(unit, name)
            assert value in found if name == "error" and value else value == found, (name, found)


@pytest.mark.parametrize("generation", ["5", '[{"input_idx": 1e999, "results": []}]', "[5]"])
def test_an_odd_log_of_reval_is_a_users_error(tmp_path: Path, generation: str) -> None:
    """Numbers where lists belong, and those that are no index."""
    for question in ("coverage", "state", "path", "output"):
        (tmp_path / f"{question}@x").mkdir()
        log = f'{{"task_id": "DREval/0", "generation": {generation}}}\n'
        (tmp_path / f"{question}@x/1.jsonl").write_text(log)
    with pytest.raises(UserError, match="line 1: expected REval's results"):
        read("reval", tmp_path)


def test_what_stands_in_some_logs_of_reval_alone(tmp_path: Path) -> None:
    """It is left out by name, as a torn line is."""
    for question in ("coverage", "state", "path", "output"):
        rows = [{"task_id": "t", "generation": [{"input_idx": 0, "results": [{"generated": "x"}]}]}] * (
            question != "path"
        )
        write_lines(tmp_path / f"{question}@x/1.jsonl", *rows, {"acc": 0.5})
    with (tmp_path / "output@x/1.jsonl").open("a") as log:
        log.write('{"task_id"')
    errors = [unit.error for unit in read("reval", tmp_path)]
    assert "line 3: expected JSON" in errors[0] and errors[1:] == ["it is not in the log of path"]


def test_a_count_that_nobody_can_count_to(tmp_path: Path) -> None:
    """A number of loops with 5000 digits, which is an object's key, is unknown."""
    cycles = [{"code_output": "", "summary_output": ""}]
    page = {"9" * 5000: [{"task_id": "a", "initial_prompt": "", "cycles": cycles}]}
    (loop,) = read("evaloop", write_json(tmp_path / "page.json", page))
    assert loop.sustained_loops is None


def test_evalplus_folder_of_programs(tmp_path: Path) -> None:
    """`eval_results.json` in it has their verdicts; a program that was changed since then has none."""
    name = FIRST.task_id.replace("/", "_")
    graded = [{**GOOD, "base_status": "pass"}, {**GOOD, "solution": "x = 1", "base_status": "fail"}]
    write_json(tmp_path / "eval_results.json", {"eval": {FIRST.task_id: graded}})
    for number, text in enumerate((FIRST.reference, "x = 1", "x = 2")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / f"{number}.py").write_text(text)
    assert [unit.theirs.base for unit in read("evalplus", tmp_path)] == [True, False, None]


@pytest.mark.parametrize(
    ("form", "content", "model"),
    [
        ("inspect", {"eval": {"model": "openai/GPT-5:x"}}, "openai__gpt-5-x"),
        ("every-eval-ever", {"model_id": "Org/M"}, "org__m"),
    ],
)
def test_a_log_names_its_model(tmp_path: Path, form: str, content: dict[str, Any], model: str) -> None:
    """These call their files by the time or at random: no id of a model."""
    assert model_of(FORMATS[form], write_json(tmp_path / "log.json", content)) == model


SAMPLES = ("m_temp_0.0.jsonl", "m_temp_0.0.raw.jsonl")


@pytest.mark.parametrize(
    ("form", "logs", "others"),
    [
        ("evalplus", {"m_temp_0.0_eval_results.json": "m_temp_0.0", "other.jsonl": "other"}, SAMPLES),
        *(("evalplus", {f"gpt-4.1.jsonl{ending}": "gpt-4.1"}, ()) for ending in PACKED_ENDINGS),
        ("lm-eval", {"org__m/samples_humaneval_2025-01-31T10-00-00.5.jsonl.zst": "org__m"}, ()),
        ("inspect", {"log.json": "log"}, ("eval-set.json", "logs.json")),
        ("every-eval-ever", {"data/suite/a_samples.jsonl": "a_samples"}, ("data/suite/a.json",)),
    ],
)
def test_what_lies_beside_logs(
    tmp_path: Path, form: str, logs: dict[str, str], others: tuple[str, ...]
) -> None:
    """EvalPlus' samples and raw replies, inspect_ai's lists of logs, scores. A log's name is its model's."""
    for name in (*logs, *others):
        write_json(tmp_path / name, {})
    found = logs_at(FORMATS[form], [tmp_path])
    named = [(str(log.relative_to(tmp_path)), model_of(FORMATS[form], log)) for log in found]
    assert named == list(logs.items())


def test_a_log_of_inspect_without_end(tmp_path: Path) -> None:
    """Its header is missing, and what it wrote at its start names the model."""
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": {"model": "a/b"}}))
        archive.writestr("summaries.json", "[]")
    form = FORMATS["inspect"]
    with pytest.raises(UserError, match="`triathlon import inspect` reads"):
        read("evalplus", tmp_path / "log.eval")
    assert (model_of(form, tmp_path / "log.eval"), form.status(tmp_path / "log.eval")) == ("a__b", "started")


# inspect_ai


def as_json(path: Path, samples: list[dict[str, Any]]) -> Path:
    return write_json(path.with_suffix(".json"), {"version": 2, "status": "success", "samples": samples})


def as_zip(path: Path, samples: list[dict[str, Any]], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = path.with_suffix(".eval")
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("header.json", "{}")
        for number, sample in enumerate(samples):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    return path


def as_zstd(path: Path, samples: list[dict[str, Any]]) -> Path:
    """A zip as inspect_ai writes it today."""
    packer = SimpleNamespace(compress=partial(pa.compress, codec="zstd", asbytes=True), flush=bytes)
    with patch("zipfile._check_compression"), patch("zipfile._get_compressor", lambda *_: packer):
        return as_zip(path, samples, method=93)


@pytest.mark.parametrize("pack", [as_json, as_zip, as_zstd])
def test_inspects_samples(tmp_path: Path, pack: Pack) -> None:
    """Its JSON, its zip and that of today hold the same; why a sample has no reply, or a cut one, is told."""
    whole = inspect_sample("a")["output"]["choices"][0]["message"]["content"]
    parts = [{"type": "reasoning", "reasoning": "def x"}, {"type": "text", "text": whole}]
    cut = {"choices": [{"message": {"content": "def"}, "stop_reason": "max_tokens"}]}
    samples = [
        inspect_sample("a"),
        inspect_sample("b", output=said(parts)),
        inspect_sample("c", output=cut),
        inspect_sample("d", output={"choices": []}, limit={"type": "message"}),
        {"id": "e", "error": {"message": "x"}, "output": None},
        inspect_sample("f", invalidation={"author": "x", "reason": "wrong prompt"}),
    ]
    units = read("inspect", pack(tmp_path / "log", samples))
    assert [(unit.task_id, unit.text, unit.cut) for unit in units] == [
        *(("a", whole, False), ("b", whole, False), ("c", "def", True)),
        *((task, "", False) for task in "def"),
    ]
    no_choices = "it has no reply: its output has no choices (it met its limit: message)"
    invalid = "the log calls it invalid: wrong prompt"
    assert [unit.error for unit in units] == ["", "", "", no_choices, "it ended in an error: x", invalid]


@pytest.mark.parametrize("form", ["inspect", "every-eval-ever"])
def test_numbered_tasks(tmp_path: Path, form: str) -> None:
    """MBPP's tests, which name the function, are the target: an empty reply to its prompt is about it."""
    tests = ["assert c(1)", "assert c(2)"]
    row = {"sample_id": "2", "input": {"raw": "Write it.", "reference": tests}, "output": {"raw": [""]}}
    log = as_json(tmp_path / "log", [inspect_sample(2, "", input="Write it.", target=tests)])
    (unit,) = read(form, log if form == "inspect" else write_lines(tmp_path / "s.jsonl", row))
    problems = [Problem("Mbpp/2", "c", "", "", ("()",))]
    assert TaskNames(problems).find(unit.task_id, "", unit.about or unit.prompt) == ("Mbpp/2", "")


@pytest.mark.parametrize("pack", [partial(as_zip, method=zipfile.ZIP_STORED), as_zip, as_zstd])
@pytest.mark.parametrize("part", ["sample", "list of members"])
def test_a_damaged_log_is_a_users_error(tmp_path: Path, pack: Pack, part: str) -> None:
    log = pack(tmp_path / "log", [inspect_sample("a"), inspect_sample("b")])
    whole = log.read_bytes()
    at = whole.index(b"1_epoch_1.json") + 20 if part == "sample" else whole.index(b"PK\x01\x02")
    log.write_bytes(whole[:at] + b"\xff" * 4 + whole[at + 4 :])
    with pytest.raises(UserError, match="cannot be unpacked"):
        read("inspect", log)


# LiveCodeBench

QUESTIONS = [
    {
        "question_id": "1873_A",
        "contest_date": "2023-08-21T00:00:00",
        "output_list": ["Here it is.", "Like this."],
        "code_list": ["print(1)", "print(2)"],
        "graded_list": [True, False],
    },
    {
        "question_id": "abc300_b",
        "contest_date": "2024-02-03T00:00:00",
        "code_list": ["print(3)", "print(4)"],
        "graded_list": [True, True],
    },
]


def test_livecodebenchs_verdicts(tmp_path: Path) -> None:
    """pass@1 is the mean over the questions of the share that passed; the days of the contests are told."""
    outputs = read_livecodebench(write_json(tmp_path / "eval_all.json", QUESTIONS))
    assert outputs == (75.0, 2, 4, "2023-08-21", "2024-02-03")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"graded_list": [1, 0]}, r"expected verdicts \(true or false\) in graded_list, got \[1, 0\]"),
        ({"graded_list": []}, r"expected verdicts"),
        ({"code_list": ["x"]}, "expected 2 programs in code_list or output_list, as many as verdicts, got 1"),
        ({"question_id": None}, "entry 1: expected question_id, each once, got None"),
        ({"question_id": "abc300_b"}, "entry 2: expected question_id, each once, got 'abc300_b'"),
    ],
    ids=str,
)
def test_ungraded_outputs_are_refused(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    log = write_json(tmp_path / "log.json", [QUESTIONS[0] | change, QUESTIONS[1]])
    with pytest.raises(UserError, match=says):
        read_livecodebench(log)
