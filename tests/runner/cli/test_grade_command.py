"""`triathlon grade`: what is kept of an earlier call, what is missing, and pass@k."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.small_run import SmallRun
from triathlon_runner import terminal

Line = dict[str, Any]
PROMPT = "def f(x):\n"
RIGHT, WRONG = PROMPT + "    return 2 * x\n", PROMPT + "    return 0\n"
ONLY_BASE = PROMPT + "    return {1: 2}[x]\n"
"""Right on the base input alone."""
PLAIN: Line = {"entry_point": "f", "prompt": PROMPT, "canonical_solution": "    return 2 * x\n"}


def problem(number: int, **more: Any) -> Line:
    """In EvalPlus' form: one base input and two more."""
    inputs = {"base_input": [[1]], "plus_input": [[2], [3]], "atol": 0, "test": ""}
    return {"task_id": f"Own/{number}", **PLAIN, **inputs, **more}


class Grading:
    """A folder with samples, problems and verdicts."""

    def __init__(self, place: SmallRun, folder: Path) -> None:
        self.place, self.folder, self.out = place, folder, folder / "out.jsonl"

    def arguments(
        self, samples: Iterable[tuple[int, str] | Line | str], problems: Sequence[Line] = (problem(1),)
    ) -> tuple[str, ...]:
        """Writes both files, and returns how they are named on the command line."""
        solutions = (
            {"task_id": f"Own/{sample[0]}", "solution": sample[1]} if isinstance(sample, tuple) else sample
            for sample in samples
        )
        for name, rows in (("samples", solutions), ("problems", problems)):
            texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
            (self.folder / f"{name}.jsonl").write_text("".join(f"{text}\n" for text in texts))
        return str(self.folder / "samples.jsonl"), "--problems", str(self.folder / "problems.jsonl")

    def says(self, arguments: Iterable[str], *options: str) -> tuple[int, str]:
        return self.place.says("grade", *arguments, *options)

    def graded(self, arguments: Iterable[str], *options: str, out: bool = True, code: int = 0) -> Line:
        """The JSON report of a call, whose verdicts are kept in `out`."""
        into = ("--out", str(self.out)) if out else ()
        result = self.place.call("grade", *arguments, *options, *into, "--json")
        assert result.exit_code == code, result.output
        found: Line = json.loads(result.stdout)
        return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A folder whose cache of answer keys all tests share."""
    return SmallRun(tmp_path_factory.mktemp("grade"))


@pytest.fixture
def grading(place: SmallRun, tmp_path: Path) -> Grading:
    return Grading(place, tmp_path)


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
def test_verdicts_of_another_problem_are_not_kept(grading: Grading, change: Line) -> None:
    """Equal ids do not make equal problems."""
    for changes in ({}, change):
        assert grading.graded(grading.arguments([(1, RIGHT)], [problem(1, **changes)]))["kept"] == 0


def test_verdicts_of_another_grader_or_other_inputs_are_not_kept(grading: Grading) -> None:
    """Base inputs first, then all with the same --out: what passed there is graded again here.

    Lines of another version, and those from before it was written down, are graded again, too.
    """
    call = grading.arguments([(1, ONLY_BASE)])
    assert grading.graded(call, "--base-only")["pass_at_k"] == {"base": {"1": 1.0}}
    full = grading.graded(call)
    assert full["pass_at_k"] == {"base": {"1": 1.0}, "base and plus": {"1": 0.0}}
    again = grading.graded(call)
    assert (full["kept"], again["kept"], again["pass_at_k"]) == (0, 1, full["pass_at_k"])
    line = json.loads(grading.out.read_text())
    for other in (line | {"graded_on": "0"}, {name: line[name] for name in line.keys() - {"graded_on"}}):
        grading.out.write_text(json.dumps(other) + "\n")
        assert grading.graded(call)["kept"] == 0


def test_a_torn_line_is_moved_aside(grading: Grading) -> None:
    """What a power cut left of the last line is graded again and not lost; another text is refused whole."""
    call = grading.arguments([(1, RIGHT), (1, WRONG)])
    grading.graded(call)
    whole = grading.out.read_bytes()
    grading.out.write_bytes(whole[:-20])
    assert grading.graded(call)["kept"] == 1
    assert grading.out.read_bytes() == whole
    assert grading.out.with_name("out.jsonl.torn").read_bytes().startswith(b'{"task_id": ')
    grading.out.write_text("my notes")
    code, said = grading.says(call, "--out", str(grading.out))
    assert code == 2 and "expected a graded sample, got b'my notes'" in said
    assert grading.out.read_text() == "my notes"


def test_progress_is_said(grading: Grading, monkeypatch: pytest.MonkeyPatch) -> None:
    """While samples are left, on standard error; the last one's line is the result itself."""
    monkeypatch.setattr(terminal, "_PROGRESS_SECONDS", 0.0)
    result = grading.place.call("grade", *grading.arguments([(1, RIGHT), (1, WRONG)]))
    assert result.stderr == "triathlon grade: 1 of 2 samples\n"


def test_missing_tasks_are_named(grading: Grading) -> None:
    """Samples of some tasks are no result of all: exit code 1, unless that is what was wanted."""
    call = grading.arguments([(0, RIGHT), (2, RIGHT)], [problem(n) for n in range(4)])
    code, said = grading.says(call)
    assert code == 1 and "1.0000" in said
    assert "2 of 4 tasks have no sample: Own/1, Own/3" in said
    code, said = grading.says(call, "--partial")
    assert code == 0 and "Own/1, Own/3" in said


def test_unknown_tasks_and_broken_lines_are_named(grading: Grading) -> None:
    """Both are counted and end with 1, also with --partial; a line without a program is no failed sample."""
    broken: list[Line | str] = [
        {"task_id": "Else/1", "solution": RIGHT},
        '{"task_id": "Own/1", "solu',
        "[]",
        {"task_id": "Own/1"},
        {"task_id": "Own/1", "solution": 5},
    ]
    code, said = grading.says(grading.arguments(broken), "--partial")
    assert code == 1 and "nan" not in said
    for text in (
        "1 sample of 1 task that no problem has: Else/1",
        "4 lines cannot be read:",
        "line 2: not JSON",
        "line 3: expected an object",
        "line 4: expected the program of 'Own/1' as text",
        "got solution 5",
        "0 of 1",
    ):
        assert text in said
    report = grading.graded(grading.arguments([(1, RIGHT), *broken[3:]]), code=1)
    assert report["outcomes"] == {"passed": 1}


def test_pass_at_k(grading: Grading) -> None:
    """The unbiased estimate over tasks; with fewer samples than k nothing is said, and why."""
    programs = [(n, text) for n in (1, 2) for text in (RIGHT, WRONG, ONLY_BASE)]
    call = grading.arguments(programs, [problem(1), problem(2)])
    values = grading.graded(call, "--k", "1,2,5")["pass_at_k"]
    assert values["base"] == {"1": pytest.approx(2 / 3), "2": 1.0, "5": None}
    assert values["base and plus"] == {"1": pytest.approx(1 / 3), "2": pytest.approx(2 / 3), "5": None}
    assert "no pass@5: 2 of 2 tasks have fewer than 5 samples" in grading.says(call, "--k", "5")[1]
    code, said = grading.says(call, "--k", "0,x")
    assert code == 2 and "expected --k as whole numbers from 1" in said


def test_how_a_program_ends_on_base_inputs(grading: Grading) -> None:
    """What the table's base row says is what --base-only says, however the program ends on the others."""
    crash = "import os; os._exit(1)"
    ends = ("return 0", crash, "import sys; sys.exit()", "raise ValueError", "return 2 * x")
    programs = [f"def f(x):\n    if x == 1: return 2\n    {end}\n" for end in ends]
    programs += [f"def f(x):\n    {end}\n" for end in ends[:2]] + ["def f(x:\n"]
    call = grading.arguments((1, text) for text in programs)
    base, full = grading.graded(call, "--base-only", out=False), grading.graded(call)
    assert full["pass_at_k"]["base"] == base["pass_at_k"]["base"] == {"1": pytest.approx(5 / 8)}
    assert full["pass_at_k"]["base and plus"] == {"1": pytest.approx(1 / 8)}
    lines = grading.out.read_text().splitlines()[:5]
    assert [json.loads(line)["base_outcome"] for line in lines] == ["passed"] * 5


def test_refused_problems_are_said_once(grading: Grading) -> None:
    """A problem whose tests prove nothing is named with the reason; the others are judged; exit code 1."""
    tests = ("def test_f():\n    assert f(1) == 2\n", "def check(candidate):\n    assert candidate(1) == 2\n")
    problems = [{**PLAIN, "task_id": f"Own/{number}", "test": test} for number, test in enumerate(tests, 1)]
    call = grading.arguments([(1, RIGHT), (1, "def f(x:\n"), (2, RIGHT)], problems)
    code, said = grading.says(call)
    assert code == 1 and "refused, because they cannot grade: 1 problem:" in said
    assert said.count("the tests of Own/1 prove nothing") == 1
    assert grading.graded(call, code=1)["outcomes"] == {"passed": 1}


def test_lines_of_other_samples_stay(grading: Grading) -> None:
    """Two files of samples, one after the other, or two models, with the same --out: no verdict is lost."""
    wanted = [("a", 1, RIGHT, "passed"), ("a", 2, WRONG, "failed"), ("b", 1, RIGHT, "passed")]
    for model, number, program, _ in wanted:
        call = grading.arguments([(number, program)], [problem(1), problem(2)])
        assert grading.graded(call, "--partial", "--model", model)["samples"] == 1
    lines = [json.loads(line) for line in grading.out.read_text().splitlines()]
    found = sorted((line["model"], line["task_id"], line["outcome"]) for line in lines)
    assert found == [(model, f"Own/{number}", outcome) for model, number, _, outcome in wanted]


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
    grading: Grading, before: Line, after: Line, reason: str
) -> None:
    """Where a problem's own reference fails, nothing is deleted, and what it was asked, and gave, is said."""
    samples, good = [(1, RIGHT), (1, WRONG)], {"task_id": "Own/1", **PLAIN, **before}
    grading.graded(grading.arguments(samples, [good]))
    lines = grading.out.read_bytes()
    code, said = grading.says(grading.arguments(samples, [good | after]), "--out", str(grading.out))
    assert code == 1 and reason in said
    assert grading.out.read_bytes() == lines
    assert grading.graded(grading.arguments(samples, [good]))["kept"] == 2
