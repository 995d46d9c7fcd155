"""Samples made elsewhere: `grade` and `import` read the same files, and what holds none is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.errors import UserError
from triathlon_runner.grading import BrokenRow, sample_rows
from triathlon_runner.imports import FORMATS

PROGRAMS = {"HumanEval/0": "x = 1", "HumanEval/1": "x = 2"}
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
        folder_of(),
        folder_of("model_temp_0.0"),
    ],
)
def test_what_the_peers_write_is_read(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    """Lines, an array, EvalPlus' results, its folder, and one above: the same for both commands."""
    path = write(tmp_path)
    rows = [row for row in sample_rows(path) if not isinstance(row, BrokenRow)]
    imported = imported_from(path)
    assert [row.text for row in rows] == list(PROGRAMS.values())
    assert {unit.task_id: unit.program for unit in imported} == PROGRAMS


def test_the_authors_verdicts_are_read(tmp_path: Path) -> None:
    """EvalPlus' own results have them beside the programs; all inputs are passed where both parts are."""
    units = imported_from(file_of(json.dumps(RESULTS))(tmp_path))
    assert [(unit.base_passed, unit.plus_passed) for unit in units] == [(True, False)] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps([["x = 1"], ["x = 2"]]), "lists of programs by position, such as bigcode's"),
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
    assert (first.task_id, first.program) == ("a", "x")
    assert (second.task_id, third.task_id) == ("line 2", "line 3")
    assert "got solution None" in second.error and "not JSON" in third.error


def test_samples_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    """A folder above several models' folders holds no samples of one."""
    folder_of("a")(tmp_path)
    folder_of("b")(tmp_path)
    with pytest.raises(UserError, match=r"the samples of one model .* got a, b"):
        list(sample_rows(tmp_path))
