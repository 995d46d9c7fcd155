"""Grading samples that were made elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.datasets import Problem, TestedProblem
from triathlon_runner.errors import UserError
from triathlon_runner.grading import UNKNOWN_TASK, grade_samples

PROBLEM = Problem(
    "Test/0", "f", "def f(x):\n", "def f(x):\n    return x + 1\n", ("(1,)", "(2,)"), base_inputs=1
)
TESTED = TestedProblem("Test/1", "g", "def g(x):\n", "def check(candidate):\n    assert candidate(1) == 1\n")
PROBLEMS = (PROBLEM, TESTED)

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
BROKEN = (
    b'{"task_id": "Test/0", ',
    b"\xff\xfe",
    b'{"solution": "x"}',
    b'{"task_id": "Test/0"}',
    b'{"task_id": "Test/0", "solution": 5}',
    b'{"task_id": "Test/0", "solution": null}',
)
"""Lines of which nobody can say whose they are, or that hold no text to execute."""


def write(path: Path) -> None:
    lines = [json.dumps(row).encode() for row, _ in SAMPLES]
    path.write_bytes(b"\n".join([*lines, *BROKEN]))


async def test_every_sample_has_an_outcome(tmp_path: Path) -> None:
    """Odd samples are outcomes; the file has one line a sample, in their order. Broken lines are named."""
    write(tmp_path / "samples.jsonl")
    out = tmp_path / "out.jsonl"
    report = await grade_samples(tmp_path / "samples.jsonl", PROBLEMS, out=out, model="m", jobs=2)
    assert [line["outcome"] for line in report.lines] == [outcome for _, outcome in SAMPLES]
    assert [json.loads(line) for line in out.read_text().splitlines()] == report.lines
    assert report.open == [] and {line["model"] for line in report.lines} == {"m"}
    assert [one.partition(":")[0] for one in report.broken] == [f"line {n}" for n in range(12, 18)]


async def test_a_folder_of_samples(tmp_path: Path) -> None:
    """Folders named after tasks hold one program a file, whatever its name; bytes that are no text, too."""
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
    report = await grade_samples(tmp_path, PROBLEMS, jobs=1)
    found = [(line["task_id"], line["sample"], line["outcome"]) for line in report.lines]
    outcomes = ("passed", "crashed", "crashed", "no_answer")
    assert found == [("Nobody_1", 0, UNKNOWN_TASK), *(("Test/0", n, each) for n, each in enumerate(outcomes))]
    assert report.pass_at(1) == 0.25


async def test_a_users_mistakes_are_named(tmp_path: Path) -> None:
    """Missing samples, an empty folder, and a file that holds something else are refused at once."""
    for path in (tmp_path / "nothing.jsonl", tmp_path):
        with pytest.raises(UserError, match="expected samples"):
            await grade_samples(path, PROBLEMS)
    write(tmp_path / "samples.jsonl")
    (tmp_path / "other.txt").write_text("my notes\n")
    with pytest.raises(UserError, match="expected a graded sample"):
        await grade_samples(tmp_path / "samples.jsonl", PROBLEMS, out=tmp_path / "other.txt")
    assert (tmp_path / "other.txt").read_text() == "my notes\n"
    for out in (tmp_path, tmp_path / "other.txt" / "graded.jsonl"):
        with pytest.raises(UserError, match="--out expects a file that can be written"):
            await grade_samples(tmp_path / "samples.jsonl", PROBLEMS, out=out)
