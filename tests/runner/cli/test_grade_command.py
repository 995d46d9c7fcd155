"""`triathlon grade`: what is kept of an earlier call, what is missing, and pass@k."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.import_place import write_lines
from support.small_run import SmallRun
from triathlon_runner import terminal
from triathlon_runner.store import refuse_second_writer

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
        """The JSON report of a call, whose verdicts are kept in `out`."""
        found: Line = self.json(f"{command} --out out.jsonl", code)
        return found

    def kept(self) -> list[Line]:
        """The verdicts there."""
        return [json.loads(line) for line in self.out.read_text().splitlines()]


@pytest.fixture
def grading(tmp_path: Path) -> Grading:
    return Grading(tmp_path)


def test_verdicts_of_another_problem_grader_or_inputs_are_not_kept(grading: Grading) -> None:
    """Base inputs first, then all with the same --out; lines of another version, or of none; equal ids."""
    call = grading.command([(1, ONLY_BASE)])
    assert grading.graded(f"{call} --base-only")["pass_at_k"] == {"base": {"1": 1.0}}
    full = grading.graded(call)
    assert full["pass_at_k"] == {"base": {"1": 1.0}, "base and plus": {"1": 0.0}}
    again = grading.graded(call)
    assert (full["kept"], again["kept"], again["pass_at_k"]) == (0, 1, full["pass_at_k"])
    (line,) = grading.kept()
    for other in (line | {"graded_on": "0"}, {name: line[name] for name in line.keys() - {"graded_on"}}):
        grading.out.write_text(json.dumps(other) + "\n")
        assert grading.graded(call)["kept"] == 0
    changed = grading.command([(1, ONLY_BASE)], [problem(1, plus_input=[[5]])])
    assert grading.graded(changed)["kept"] == 0


def test_a_torn_line_is_moved_aside(grading: Grading) -> None:
    """What a power cut left of the last line is graded again and not lost; another text is refused whole."""
    call = grading.command([(1, RIGHT), (1, WRONG)])
    grading.graded(call)
    whole = grading.out.read_bytes()
    grading.out.write_bytes(whole[:-20])
    assert grading.graded(call)["kept"] == 1
    assert grading.out.read_bytes() == whole
    assert grading.out.with_name("out.jsonl.torn").read_bytes().startswith(b'{"task_id": ')
    grading.out.write_text("my notes")
    grading.expect(f"{call} --out out.jsonl", 2, "expected a graded sample, got b'my notes'")
    assert grading.out.read_text() == "my notes"


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
    assert [line["base_outcome"] for line in grading.kept()[:5]] == ["passed"] * 5


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


def test_a_second_call_that_writes_is_refused(grading: Grading) -> None:
    """It would leave out what the first has graded."""
    with refuse_second_writer(grading.root / ".out.jsonl.lock", "", ""):
        grading.expect(f"{grading.command([(1, RIGHT)])} --out out.jsonl", 2, "another triathlon command is")


def test_lines_of_other_samples_stay(grading: Grading) -> None:
    """Files of samples one after the other, or several models, also one without a name: none is lost."""
    wanted = [("a", 1, "passed", 0), ("a", 2, "failed", 0), ("b", 1, "passed", 1), ("", 1, "passed", 1)]
    for model, number, outcome, kept in wanted:
        program = RIGHT if outcome == "passed" else WRONG
        call = grading.command([(number, program)], [problem(1), problem(2)])
        report = grading.graded(f"{call} --partial --model '{model}'")
        assert (report["samples"], report["kept"]) == (1, kept)
    found = {(line.get("model", ""), line["task_id"], line["outcome"]) for line in grading.kept()}
    assert found == {(model, f"Own/{number}", outcome) for model, number, outcome, _ in wanted}


def test_verdicts_of_a_problem_that_is_refused_now_stay(grading: Grading) -> None:
    """Where a problem's own reference fails, nothing is deleted, and what it was asked, and gave, is said."""
    samples = [(1, RIGHT), (1, WRONG)]
    good, bad = ({**PLAIN, "task_id": "Own/1", "test": CHECK.format(result)} for result in (2, 3))
    grading.graded(grading.command(samples, [good]))
    lines = grading.out.read_bytes()
    reason = "at f(1) expected assert candidate(1) == 3 (AssertionError: ), got 2"
    grading.expect(f"{grading.command(samples, [bad])} --out out.jsonl", 1, reason)
    assert grading.out.read_bytes() == lines
    assert grading.graded(grading.command(samples, [good]))["kept"] == 2
