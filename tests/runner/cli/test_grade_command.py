"""`triathlon grade`: what is kept of an earlier call, what is missing, and pass@k."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from support.small_run import SmallRun
from triathlon_runner import terminal

PROMPT = "def f(x):\n"
RIGHT, WRONG = PROMPT + "    return 2 * x\n", PROMPT + "    return 0\n"
ONLY_BASE = PROMPT + "    return {1: 2}[x]\n"
"""Right on the base input alone."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A folder whose cache of answer keys all tests share."""
    return SmallRun(tmp_path_factory.mktemp("grade"))


def problem(number: int, **more: Any) -> dict[str, Any]:
    """In EvalPlus' form: one base input and two more."""
    return {
        "task_id": f"Own/{number}",
        "entry_point": "f",
        "prompt": PROMPT,
        "canonical_solution": "    return 2 * x\n",
        "base_input": [[1]],
        "plus_input": [[2], [3]],
        "atol": 0,
        "test": "",
        **more,
    }


def write(path: Path, rows: Sequence[dict[str, Any] | str]) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def samples(path: Path, *programs: tuple[int, str]) -> str:
    return write(path, [{"task_id": f"Own/{number}", "solution": text} for number, text in programs])


def graded(place: SmallRun, *arguments: str, code: int = 0) -> dict[str, Any]:
    result = place.call("grade", *arguments, "--json")
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_verdicts_on_other_tests_are_not_kept(place: SmallRun, tmp_path: Path) -> None:
    """Base inputs first, then all with the same --out: what passed there is graded again here."""
    found = samples(tmp_path / "s.jsonl", (1, ONLY_BASE))
    problems, out = write(tmp_path / "p.jsonl", [problem(1)]), str(tmp_path / "out.jsonl")
    base = graded(place, found, "--problems", problems, "--base-only", "--out", out)
    assert base["pass_at_k"] == {"base": {"1": 1.0}}
    full = graded(place, found, "--problems", problems, "--out", out)
    assert full["pass_at_k"] == {"base": {"1": 1.0}, "base and plus": {"1": 0.0}}
    assert full["kept"] == 0
    again = graded(place, found, "--problems", problems, "--out", out)
    assert (again["kept"], again["pass_at_k"]) == (1, full["pass_at_k"])


@pytest.mark.parametrize(
    "change",
    [
        {"canonical_solution": "    return 0\n"},
        {"plus_input": [[5]]},
        {"prompt": "import math\n" + PROMPT},
        {"atol": 0.5},
    ],
    ids=lambda change: next(iter(change)),
)
def test_verdicts_of_another_problem_are_not_kept(
    place: SmallRun, tmp_path: Path, change: dict[str, Any]
) -> None:
    """Equal ids do not make equal problems."""
    found, out = samples(tmp_path / "s.jsonl", (1, RIGHT)), str(tmp_path / "out.jsonl")
    for name, one in (("p", problem(1)), ("q", problem(1, **change))):
        problems = write(tmp_path / f"{name}.jsonl", [one])
        assert graded(place, found, "--problems", problems, "--out", out)["kept"] == 0


def test_verdicts_of_another_grader_are_not_kept(place: SmallRun, tmp_path: Path) -> None:
    """Lines of another version, and those from before it was written down, are graded again."""
    key = "graded_on"
    found, out = samples(tmp_path / "s.jsonl", (1, RIGHT)), tmp_path / "out.jsonl"
    problems = write(tmp_path / "p.jsonl", [problem(1)])
    graded(place, found, "--problems", problems, "--out", str(out))
    line = json.loads(out.read_text())
    for other in ({**line, key: "0"}, {name: value for name, value in line.items() if name != key}):
        write(out, [other])
        assert graded(place, found, "--problems", problems, "--out", str(out))["kept"] == 0


def test_a_torn_line_is_moved_aside(place: SmallRun, tmp_path: Path) -> None:
    """What a power cut left of the last line is graded again and not lost; another text is refused whole."""
    found, out = samples(tmp_path / "s.jsonl", (1, RIGHT), (1, WRONG)), tmp_path / "out.jsonl"
    problems = write(tmp_path / "p.jsonl", [problem(1)])
    graded(place, found, "--problems", problems, "--out", str(out))
    whole = out.read_bytes()
    out.write_bytes(whole[:-20])
    assert graded(place, found, "--problems", problems, "--out", str(out))["kept"] == 1
    assert out.read_bytes() == whole
    assert (tmp_path / "out.jsonl.torn").read_bytes().startswith(b'{"task_id": ')
    out.write_text("my notes")
    refused = said(place, found, "--problems", problems, "--out", str(out))
    assert out.read_text() == "my notes"
    assert "expected a graded sample, got b'my notes'" in str(refused.exception)


def said(place: SmallRun, *arguments: str) -> Result:
    return place.call("grade", *arguments)


def test_progress_is_said(place: SmallRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While samples are left, on standard error; the last one's line is the result itself."""
    monkeypatch.setattr(terminal, "_PROGRESS_SECONDS", 0.0)
    found = samples(tmp_path / "s.jsonl", (1, RIGHT), (1, WRONG))
    result = place.call("grade", found, "--problems", write(tmp_path / "p.jsonl", [problem(1)]))
    assert result.stderr == "triathlon grade: 1 of 2 samples\n"


def test_missing_tasks_are_named(place: SmallRun, tmp_path: Path) -> None:
    """Samples of some tasks are no result of all: exit code 1, unless that is what was wanted."""
    problems = write(tmp_path / "p.jsonl", [problem(n) for n in range(4)])
    found = samples(tmp_path / "s.jsonl", (0, RIGHT), (2, RIGHT))
    result = said(place, found, "--problems", problems)
    assert result.exit_code == 1
    assert "2 of 4 tasks have no sample: Own/1, Own/3" in result.output
    assert "2 of 4" in result.output and "1.0000" in result.output
    partial = said(place, found, "--problems", problems, "--partial")
    assert partial.exit_code == 0 and "Own/1, Own/3" in partial.output


def test_unknown_tasks_and_broken_lines_are_named(place: SmallRun, tmp_path: Path) -> None:
    """Both are counted and end with 1, also with --partial; without any known task there is no score."""
    problems = write(tmp_path / "p.jsonl", [problem(1)])
    rows: list[dict[str, Any] | str] = [
        {"task_id": "Else/1", "solution": RIGHT},
        '{"task_id": "Own/1", "solu',
        "[]",
    ]
    result = said(place, write(tmp_path / "s.jsonl", rows), "--problems", problems, "--partial")
    assert result.exit_code == 1
    assert "1 sample of 1 task that no problem has: Else/1" in result.output
    assert "2 lines cannot be read:" in result.output
    assert "line 2: not JSON" in result.output and "line 3: expected an object" in result.output
    assert "nan" not in result.output and "0 of 1" in result.output


def test_lines_without_a_program_are_no_failures(place: SmallRun, tmp_path: Path) -> None:
    """A line whose `solution` is missing or no text cannot be read: named, exit code 1, no failed sample."""
    problems = write(tmp_path / "p.jsonl", [problem(1)])
    rows: list[dict[str, Any] | str] = [
        {"task_id": "Own/1", "solution": RIGHT},
        {"task_id": "Own/1"},
        {"task_id": "Own/1", "solution": 5},
    ]
    found = write(tmp_path / "s.jsonl", rows)
    assert graded(place, found, "--problems", problems, code=1)["outcomes"] == {"passed": 1}
    result = said(place, found, "--problems", problems)
    assert result.exit_code == 1 and "2 lines cannot be read:" in result.output
    assert "line 2: expected the program of 'Own/1' as text" in result.output
    assert "got neither" in result.output and "got solution 5" in result.output


def test_pass_at_k(place: SmallRun, tmp_path: Path) -> None:
    """The unbiased estimate over tasks; with fewer samples than k nothing is said, and why."""
    problems = write(tmp_path / "p.jsonl", [problem(1), problem(2)])
    found = samples(tmp_path / "s.jsonl", *((n, text) for n in (1, 2) for text in (RIGHT, WRONG, ONLY_BASE)))
    values = graded(place, found, "--problems", problems, "--k", "1,2,5")["pass_at_k"]
    assert values["base"] == {"1": pytest.approx(2 / 3), "2": 1.0, "5": None}
    assert values["base and plus"] == {"1": pytest.approx(1 / 3), "2": pytest.approx(2 / 3), "5": None}
    result = said(place, found, "--problems", problems, "--k", "5")
    assert "no pass@5: 2 of 2 tasks have fewer than 5 samples" in result.output
    bad = said(place, found, "--problems", problems, "--k", "0,x")
    assert "expected --k as whole numbers from 1" in str(bad.exception)


def test_how_a_program_ends_on_base_inputs(place: SmallRun, tmp_path: Path) -> None:
    """What the table's base row says is what --base-only says, however the program ends on the others."""
    ends = [
        "return 0",
        "import os; os._exit(1)",
        "import sys; sys.exit()",
        "raise ValueError",
        "return 2 * x",
    ]
    programs = [f"def f(x):\n    if x == 1: return 2\n    {end}\n" for end in ends]
    programs += [f"def f(x):\n    {end}\n" for end in ends[:2]] + ["def f(x:\n"]
    found = samples(tmp_path / "s.jsonl", *((1, text) for text in programs))
    problems, out = write(tmp_path / "p.jsonl", [problem(1)]), tmp_path / "out.jsonl"
    base = graded(place, found, "--problems", problems, "--base-only")
    full = graded(place, found, "--problems", problems, "--out", str(out))
    assert full["pass_at_k"]["base"] == base["pass_at_k"]["base"] == {"1": pytest.approx(5 / 8)}
    assert full["pass_at_k"]["base and plus"] == {"1": pytest.approx(1 / 8)}
    assert [json.loads(line)["base_outcome"] for line in out.read_text().splitlines()[:5]] == ["passed"] * 5


def test_refused_problems_are_said_once(place: SmallRun, tmp_path: Path) -> None:
    """A problem whose tests prove nothing is named with the reason; the others are judged; exit code 1."""
    plain = {"entry_point": "f", "prompt": PROMPT, "canonical_solution": "    return 2 * x\n"}
    problems = write(
        tmp_path / "p.jsonl",
        [
            {**plain, "task_id": "Own/1", "test": "def test_f():\n    assert f(1) == 2\n"},
            {**plain, "task_id": "Own/2", "test": "def check(candidate):\n    assert candidate(1) == 2\n"},
        ],
    )
    found = samples(tmp_path / "s.jsonl", (1, RIGHT), (1, "def f(x:\n"), (2, RIGHT))
    result = said(place, found, "--problems", problems)
    assert result.exit_code == 1
    assert "refused, because they cannot grade: 1 problem:" in result.output
    assert result.output.count("the tests of Own/1 prove nothing") == 1
    assert graded(place, found, "--problems", problems, code=1)["outcomes"] == {"passed": 1}


def test_lines_of_other_samples_stay(place: SmallRun, tmp_path: Path) -> None:
    """Two files of samples, one after the other, or two models, with the same --out: no verdict is lost."""
    problems, out = write(tmp_path / "p.jsonl", [problem(1), problem(2)]), tmp_path / "out.jsonl"
    first, second = samples(tmp_path / "a.jsonl", (1, RIGHT)), samples(tmp_path / "b.jsonl", (2, WRONG))
    options = ("--problems", problems, "--partial", "--out", str(out))
    graded(place, first, *options, "--model", "a")
    found = graded(place, second, *options, "--model", "a")
    assert found["samples"] == 1
    graded(place, first, *options, "--model", "b")
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted((one["model"], one["task_id"], one["outcome"]) for one in lines) == [
        ("a", "Own/1", "passed"),
        ("a", "Own/2", "failed"),
        ("b", "Own/1", "passed"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (
            {"test": "def check(candidate):\n    assert candidate(1) == 2\n"},
            {"test": "def check(candidate):\n    assert candidate(1) == 3\n"},
            "at f(1) expected assert candidate(1) == 3 (AssertionError: ), got 2",
        ),
        (
            {"base_input": [[1]], "plus_input": []},
            {"base_input": [["a"], [None]], "plus_input": [], "canonical_solution": "    return x / 2\n"},
            "on ('a',) and every other input it raised TypeError: unsupported operand",
        ),
    ],
    ids=["tests", "inputs"],
)
def test_verdicts_of_a_problem_that_is_refused_now_stay(
    place: SmallRun, tmp_path: Path, before: dict[str, Any], after: dict[str, Any], reason: str
) -> None:
    """Where a problem's own reference fails, nothing is deleted, and what it was asked, and gave, is said."""
    plain = {
        "task_id": "Own/1",
        "entry_point": "f",
        "prompt": PROMPT,
        "canonical_solution": "    return 2 * x\n",
    }
    found, out = samples(tmp_path / "s.jsonl", (1, RIGHT), (1, WRONG)), tmp_path / "out.jsonl"
    good = write(tmp_path / "good.jsonl", [{**plain, **before}])
    bad = write(tmp_path / "bad.jsonl", [{**plain, **before, **after}])
    graded(place, found, "--problems", good, "--out", str(out))
    lines = out.read_bytes()
    refused = said(place, found, "--problems", bad, "--out", str(out))
    assert refused.exit_code == 1 and reason in refused.output
    assert out.read_bytes() == lines
    assert graded(place, found, "--problems", good, "--out", str(out))["kept"] == 2
