"""`triathlon grade`: what is graded once, what is missing, and pass@k."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.import_place import write_lines
from support.small_run import SmallRun
from triathlon_runner import terminal

Line = dict[str, Any]
PROMPT = "def f(x):\n"
RIGHT, WRONG = PROMPT + "    return 2 * x\n", PROMPT + "    return 0\n"
ONLY_BASE = PROMPT + "    return {1: 2}[x]\n"
"""Right on the base input alone."""
PLAIN: Line = {"entry_point": "f", "prompt": PROMPT, "canonical_solution": "    return 2 * x\n"}
CHECK = "def check(candidate):\n    assert candidate(1) == {}\n"


def problem(number: int, **more: Any) -> Line:
    """In EvalPlus' form: one base input and two more."""
    inputs = {"base_input": [[1]], "plus_input": [[2], [3]], "atol": 0, "test": ""}
    return {"task_id": f"Own/{number}", **PLAIN, **inputs, **more}


class Grading(SmallRun):
    """A folder with samples, problems and verdicts."""

    @property
    def out(self) -> Path:
        return self.root / "out.jsonl"

    def command(self, samples: Iterable[tuple[int, str]], problems: Sequence[Line] = (problem(1),)) -> str:
        solutions = ({"task_id": f"Own/{number}", "solution": program} for number, program in samples)
        write_lines(self.root / "samples.jsonl", *solutions)
        write_lines(self.root / "problems.jsonl", *problems)
        return "grade samples.jsonl --problems problems.jsonl"

    def graded(self, command: str, code: int = 0) -> Line:
        """The JSON report of a call, whose lines are in `out`."""
        found: Line = self.json(f"{command} --out out.jsonl", code)
        return found

    def written(self) -> list[Line]:
        """The lines there."""
        return [json.loads(line) for line in self.out.read_text().splitlines()]

    @property
    def cached(self) -> Path:
        """Where verdicts are kept, one line for each program that was graded."""
        return self.root / "cache/verdicts/problems.jsonl.jsonl"

    def count_graded(self) -> int:
        """How many programs all calls graded."""
        return len(self.cached.read_bytes().splitlines())


@pytest.fixture
def grading(tmp_path: Path) -> Grading:
    return Grading(tmp_path)


def test_what_was_graded_is_not_graded_again(grading: Grading) -> None:
    """Base inputs first, then all; by another model, with or without --out; a changed problem is another."""
    call = grading.command([(1, ONLY_BASE)])
    assert grading.graded(f"{call} --base-only")["pass_at_k"] == {"base": {"1": 1.0}}
    full = grading.graded(call)
    assert full["pass_at_k"] == {"base": {"1": 1.0}, "base and plus": {"1": 0.0}}
    written = grading.written()
    assert grading.graded(call) == full == grading.json(call) and grading.written() == written
    grading.graded(f"{call} --model m")
    assert grading.written() == [{**line, "model": "m"} for line in written]
    assert grading.count_graded() == 2
    grading.graded(grading.command([(1, ONLY_BASE)], [problem(1, plus_input=[[5]])]))
    assert grading.count_graded() == 3


def test_a_torn_verdict_is_graded_again(grading: Grading) -> None:
    """As a power cut leaves it. What is no list of verdicts is refused, with the way out."""
    call = grading.command([(1, RIGHT), (1, WRONG)])
    report, whole = grading.graded(call), grading.cached.read_bytes()
    grading.cached.write_bytes(whole[:-20])
    assert grading.graded(call) == report and grading.cached.read_bytes() == whole
    grading.cached.write_text("my notes\n")
    grading.expect(
        call, 2, "problems.jsonl.jsonl: expected lines of a key and a verdict, got b'my notes'", "delete it"
    )


@pytest.mark.parametrize(
    ("out", "why"),
    [
        (".", "--out expects a file that can be written, got '.' (Is a directory); name another one"),
        ("/", "--out expects a file that can be written, got '/'"),
        ("samples.jsonl/x", "--out expects a file that can be written"),
        ("samples.jsonl", 'expected graded samples or no file, got b\'{"task_id": "Own/1"'),
        ("notes.txt", "expected graded samples or no file, got b'my notes'; name another file at --out"),
    ],
)
def test_out_is_looked_at_before_the_work(grading: Grading, out: str, why: str) -> None:
    """Nothing is graded, and another file than one of graded samples is left as it is."""
    call = grading.command([(1, RIGHT)])
    (grading.root / "notes.txt").write_text("\nmy notes\n")
    before = {path: path.read_bytes() for path in grading.root.iterdir()}
    grading.expect(f"{call} --out {out}", 2, why)
    assert {path: path.read_bytes() for path in grading.root.iterdir()} == before


def test_lines_may_go_into_a_stream(grading: Grading) -> None:
    """What stands in /dev cannot be read back: it is only written into."""
    grading.expect(f"{grading.command([(1, RIGHT)])} --out /dev/null", 0, "1.0000")


def test_progress_is_said(grading: Grading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_PROGRESS_SECONDS", 0.0)
    result = grading.call(*grading.command([(1, RIGHT), (1, WRONG)]).split())
    assert result.stderr == "triathlon grade: 1 of 2 samples\n"


def test_missing_tasks_are_named(grading: Grading) -> None:
    """Samples of some tasks are no result of all: exit code 1, unless that is what was wanted."""
    call = grading.command([(0, RIGHT), (2, RIGHT)], [problem(n) for n in range(4)])
    grading.expect(call, 1, "1.0000", "2 of 4 tasks have no sample: Own/1, Own/3")
    grading.expect(f"{call} --partial", 0, "Own/1, Own/3")


def test_unknown_tasks_and_broken_lines_are_named(grading: Grading) -> None:
    """Both are counted and end with 1, also with --partial."""
    call = f"{grading.command([])} --partial"
    broken = (
        '{"task_id": "Else/1", "solution": "x"}',
        '{"task_id": "Own/1", "solu',
        "[]",
        '{"task_id": "Own/1"}',
        '{"task_id": "Own/1", "solution": 5}',
    )
    (grading.root / "samples.jsonl").write_text("\n".join(broken))
    lines = (
        "line 2: not JSON",
        "line 3: expected an object",
        "line 4: expected the program of 'Own/1' as text",
        "got solution 5",
    )
    unknown, number = "1 sample of 1 task that no problem has: Else/1", "4 lines cannot be read:"
    grading.expect(call, 1, "!nan", unknown, number, *lines, "0 of 1")


def test_pass_at_k(grading: Grading) -> None:
    """The unbiased estimate over tasks; with fewer samples than k nothing is said, and why."""
    programs = [(n, text) for n in (1, 2) for text in (RIGHT, WRONG, ONLY_BASE)]
    call = grading.command(programs, [problem(1), problem(2)])
    values = grading.graded(f"{call} --k 1,2,5")["pass_at_k"]
    assert values["base"] == {"1": pytest.approx(2 / 3), "2": 1.0, "5": None}
    assert values["base and plus"] == {"1": pytest.approx(1 / 3), "2": pytest.approx(2 / 3), "5": None}
    grading.expect(f"{call} --k 5", 0, "no pass@5: 2 of 2 tasks have fewer than 5 samples")
    for k in ("0,x", "9" * 5000):
        grading.expect(f"{call} --k {k}", 2, "expected --k as whole numbers from 1")


def test_how_a_program_ends_on_base_inputs(grading: Grading) -> None:
    """What the table's base row says is what --base-only says, however the program ends on the others."""
    crash = "import os; os._exit(1)"
    ends = ("return 0", crash, "import sys; sys.exit()", "raise ValueError", "return 2 * x")
    programs = [f"def f(x):\n    if x == 1: return 2\n    {end}\n" for end in ends]
    programs += [f"def f(x):\n    {end}\n" for end in ends[:2]] + ["def f(x:\n"]
    call = grading.command((1, text) for text in programs)
    base, full = grading.graded(f"{call} --base-only"), grading.graded(call)
    assert full["pass_at_k"]["base"] == base["pass_at_k"]["base"] == {"1": pytest.approx(5 / 8)}
    assert full["pass_at_k"]["base and plus"] == {"1": pytest.approx(1 / 8)}
    assert [line["base_outcome"] for line in grading.written()[:5]] == ["passed"] * 5


def test_refused_problems_are_said_once(grading: Grading) -> None:
    """A problem whose tests prove nothing is named with the reason; the others are judged; exit code 1."""
    tests = ("def test_f():\n    assert f(1) == 2\n", CHECK.format(2))
    problems = [{**PLAIN, "task_id": f"Own/{number}", "test": test} for number, test in enumerate(tests, 1)]
    call = grading.command([(1, RIGHT), (1, "def f(x:\n"), (2, RIGHT)], problems)
    said = grading.expect(call, 1, "refused, because they cannot grade: 1 problem:")
    assert said.count("the tests of Own/1 prove nothing") == 1
    assert grading.graded(call, code=1)["outcomes"] == {"passed": 1}


def test_special_rules_are_for_the_official_tasks_alone(grading: Grading) -> None:
    """A function or a file of a user may be called like one that has a rule of its own."""
    named = problem(10, entry_point="check_str", prompt="def check_str(x):\n")
    evolved = {**PLAIN, "task_id": "Own/10", "inputs": ["1"]}
    for row, program in ((named, "def check_str(x):\n    return 0\n"), (evolved, WRONG)):
        grading.command([(10, program)], [row])
        (grading.root / "problems.jsonl").rename(grading.root / "difficult.jsonl")
        report = grading.json("grade samples.jsonl --problems difficult.jsonl")
        assert report["outcomes"] == {"failed": 1}


def test_a_problem_that_is_refused_for_a_time(grading: Grading) -> None:
    """Where its own reference fails, what it was asked, and gave, is said; verdicts from before are kept."""
    samples = [(1, RIGHT), (1, WRONG)]
    good, bad = ({**PLAIN, "task_id": "Own/1", "test": CHECK.format(result)} for result in (2, 3))
    grading.graded(grading.command(samples, [good]))
    lines = grading.out.read_bytes()
    reason = "at f(1) expected assert candidate(1) == 3 (AssertionError: ), got 2"
    grading.expect(f"{grading.command(samples, [bad])} --out out.jsonl", 1, reason)
    grading.graded(grading.command(samples, [good]))
    assert grading.out.read_bytes() == lines and grading.count_graded() == 2
