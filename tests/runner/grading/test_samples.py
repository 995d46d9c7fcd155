"""Samples made elsewhere: `grade` and `import` read the same files, and what holds none is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.case_files import rows
from triathlon_runner.datasets import Problem, TestedProblem
from triathlon_runner.errors import UserError
from triathlon_runner.grading import (
    UNKNOWN_TASK,
    TaskNames,
    TheirVerdict,
    grade_samples,
    sample_rows,
    their_verdict,
)
from triathlon_runner.grading._samples import read_samples
from triathlon_runner.imports import FORMATS

PROGRAMS = {"HumanEval/0": "def f(): pass", "HumanEval/1": "def g(): pass"}
PROBLEMS = [
    Problem(task_id=task, entry_point=text[4], prompt="", reference=text, inputs=("()",))
    for task, text in PROGRAMS.items()
]
ROWS = [{"task_id": task, "solution": text} for task, text in PROGRAMS.items()]
COMPLETIONS = [{**row, "solution": None, "completion": row["solution"]} for row in ROWS]
RESULTS = {
    "date": "2026",
    "eval": {row["task_id"]: [{**row, "base_status": "pass", "plus_status": "fail"}] for row in ROWS},
}


def imported_from(path: Path) -> list[Any]:
    return list(FORMATS["evalplus"].read(path))


def written(folder: Path, samples: str | tuple[str, ...]) -> Path:
    """A file with this text, or the folder with the programs, below folders of these names."""
    if isinstance(samples, str):
        path = folder / "samples.json"
        path.write_text(samples)
        return path
    for number, text in enumerate(PROGRAMS.values()):
        path = folder.joinpath(*samples, f"HumanEval_{number}", "0.py")
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "text_or_folders",
    [
        "\n".join(map(json.dumps, ROWS)),
        "\r\n".join(map(json.dumps, ROWS)) + "\r\n",
        "\n".join(map(json.dumps, COMPLETIONS)),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=1),
        json.dumps(RESULTS),
        json.dumps(RESULTS, indent=1),
        json.dumps({"eval": {row["task_id"]: {"solution": row["solution"]} for row in ROWS}}),
        json.dumps([[text] for text in PROGRAMS.values()]),
        (),
        ("model_temp_0.0",),
    ],
)
def test_what_the_peers_write_is_read(tmp_path: Path, text_or_folders: str | tuple[str, ...]) -> None:
    """Lines, an array, EvalPlus' results, bigcode's lists, a folder, and one above, for both commands."""
    path = written(tmp_path, text_or_folders)
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
    assert their_verdict(row) == TheirVerdict(base, plus)


@pytest.mark.parametrize("row", rows(Path(__file__).with_name("task_names.csv")), ids=str)
def test_a_number_is_a_task_only_by_its_program(row: dict[str, str]) -> None:
    """Automatic ids stand beside programs or prompts of other tasks, and examples before the task."""
    tasks = (("Mbpp/2", "c"), ("Mbpp/3", "d"), ("7", "e"))
    problems = [Problem(task_id, function, "", "", ("()",)) for task_id, function in tasks]
    found, why_not = TaskNames(problems).find(row["name"], row["program"], row["about"])
    assert (found, bool(why_not)) == (row["task"], not row["task"])


FENCED = {"task_id": "HumanEval/0", "solution": "Sure:\n```python\ndef f(): pass\n```"}


def test_what_holds_no_samples_is_named(tmp_path: Path) -> None:
    """What it is, instead of a fault in each line; fences that somebody graded as they are count."""
    with pytest.raises(UserError, match=r"code fences in 1 of 1 samples, such as EvalPlus' raw replies"):
        list(sample_rows(written(tmp_path, json.dumps(FENCED))))
    (unit,) = imported_from(written(tmp_path, json.dumps({**FENCED, "passed": False})))
    assert unit.theirs.base is False
    for model in ("a", "b"):
        folder = written(tmp_path, (model,))
    with pytest.raises(UserError, match=r"the samples of one model .* got a, b"):
        list(sample_rows(folder))


def test_one_broken_line_loses_nothing_else(tmp_path: Path) -> None:
    lines = '{"task_id": "a", "solution": "x"}\n{"task_id": "b", "solution": null}\n{"task_id":\n'
    first, second, third = imported_from(written(tmp_path, lines))
    assert (first.task_id, first.text) == ("a", "x")
    assert (second.task_id, third.task_id) == ("line 2", "line 3")
    assert "got solution None" in second.error and "not JSON" in third.error


# Grading them

PROBLEM = Problem(
    "Test/0", "f", "def f(x):\n", "def f(x):\n    return x + 1\n", ("(1,)", "(2,)"), base_inputs=1
)
GRADED = (
    PROBLEM,
    TestedProblem("Test/1", "g", "def g(x):\n", "def check(candidate):\n    assert candidate(1) == 1\n"),
)
SAMPLES: list[tuple[dict[str, Any], str]] = [
    ({"task_id": "Test/0", "solution": PROBLEM.reference}, "passed"),
    ({"task_id": "Test/0", "completion": "    return x + 1\n"}, "passed"),
    ({"task_id": "Test/0", "solution": "def f(x):\n    return 2\n"}, "failed"),
    ({"task_id": "Test/0", "solution": " \n"}, "no_answer"),
    ({"task_id": "Test/0", "solution": "def f(:"}, "crashed"),
    ({"task_id": "Test/0", "solution": "a\0b"}, "crashed"),
    ({"task_id": "Test/0", "solution": "'\ud800'"}, "crashed"),
    ({"task_id": "Test/0", "solution": PROBLEM.reference + "#" * 10_000_000}, "passed"),
    ({"task_id": "Test/1", "solution": "def g(x):\n    return x\n"}, "passed"),
    ({"task_id": "Test/1", "solution": "def g(x):\n    return -x\n"}, "failed"),
    ({"task_id": "Other/7", "solution": "x"}, UNKNOWN_TASK),
]
BROKEN = (b"\xff\xfe", b'{"solution": "x"}', b'{"task_id": "Test/0", "solution": null}')
"""Lines of which nobody can say whose they are, or that hold no text to execute."""


async def test_every_sample_has_an_outcome(tmp_path: Path) -> None:
    """In their order; broken lines are named, and what is no file of such lines at `--out`."""
    samples, out, other = (tmp_path / name for name in ("samples.jsonl", "out.jsonl", "other.jsonl"))
    samples.write_bytes(b"\n".join([*(json.dumps(row).encode() for row, _ in SAMPLES), *BROKEN]))
    report = await grade_samples(samples, GRADED, out=out, model="m", jobs=2)
    assert [line["outcome"] for line in report.lines] == [outcome for _, outcome in SAMPLES]
    assert [json.loads(line) for line in out.read_text().splitlines()] == report.lines
    assert report.open == [] and {line["model"] for line in report.lines} == {"m"}
    assert [one.partition(":")[0] for one in report.broken] == [f"line {n}" for n in range(12, 15)]
    for place in (tmp_path, out / "graded.jsonl"):
        with pytest.raises(UserError, match="--out expects a file that can be written"):
            await grade_samples(samples, GRADED, out=place)
    other.write_text("my notes")
    with pytest.raises(UserError, match="expected graded samples"):
        await grade_samples(samples, GRADED, out=other)


async def test_a_folder_of_samples(tmp_path: Path) -> None:
    """Folders named after tasks hold one program a file, whatever its name; bytes that are no text, too."""
    for path in (tmp_path / "nothing.jsonl", tmp_path):
        with pytest.raises(UserError, match="expected samples"):
            await grade_samples(path, GRADED)
    files = {
        "Test_0/0.py": PROBLEM.reference.encode(),
        "Test_0/00.py": b"def nothing(): pass",
        "Test_0/candidate.py": b"def nothing(): pass",
        "Test_0/1.py": b"\xff",
        "Nobody_1/0.py": b"x = 1",
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    report = await grade_samples(tmp_path, GRADED, jobs=1)
    found = [(line["task_id"], line["sample"], line["outcome"]) for line in report.lines]
    outcomes = ("passed", "crashed", "crashed", "no_answer")
    assert found == [("Nobody_1", 0, UNKNOWN_TASK), *(("Test/0", n, each) for n, each in enumerate(outcomes))]
    assert report.pass_at(1) == 0.25
