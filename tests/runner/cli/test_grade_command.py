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

    def command(
        self, samples: Iterable[tuple[int, str] | Line | str], problems: Sequence[Line] = (problem(1),)
    ) -> str:
        solutions = (
            {"task_id": f"Own/{sample[0]}", "solution": sample[1]} if isinstance(sample, tuple) else sample
            for sample in samples
        )
        for name, rows in (("samples", solutions), ("problems", problems)):
            texts = (row if isinstance(row, str) else json.dumps(row) for row in rows)
            (self.folder / f"{name}.jsonl").write_text("".join(f"{text}\n" for text in texts))
        return f"grade {self.folder}/samples.jsonl --problems {self.folder}/problems.jsonl"

    def graded(self, command: str, code: int = 0) -> Line:
        """The JSON report of a call, whose verdicts are kept in `out`."""
        found: Line = self.place.json(f"{command} --out {self.out}", code)
        return found

    def kept(self) -> list[Line]:
        """The verdicts there."""
        return [json.loads(line) for line in self.out.read_text().splitlines()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A folder whose cache of answer keys all tests share."""
    return SmallRun(tmp_path_factory.mktemp("grade"))


@pytest.fixture
def grading(place: SmallRun, tmp_path: Path) -> Grading:
    return Grading(place, tmp_path)


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
    grading.place.expect(f"{call} --out {grading.out}", 2, "expected a graded sample, got b'my notes'")
    assert grading.out.read_text() == "my notes"


def test_progress_is_said(grading: Grading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_PROGRESS_SECONDS", 0.0)
    result = grading.place.call(*grading.command([(1, RIGHT), (1, WRONG)]).split())
    assert result.stderr == "triathlon grade: 1 of 2 samples\n"


def test_missing_tasks_are_named(grading: Grading) -> None:
    """Samples of some tasks are no result of all: exit code 1, unless that is what was wanted."""
    call = grading.command([(0, RIGHT), (2, RIGHT)], [problem(n) for n in range(4)])
    grading.place.expect(call, 1, "1.0000", "2 of 4 tasks have no sample: Own/1, Own/3")
    grading.place.expect(f"{call} --partial", 0, "Own/1, Own/3")


def test_unknown_tasks_and_broken_lines_are_named(grading: Grading) -> None:
    """Both are counted and end with 1, also with --partial; a line without a program is no failed sample."""
    broken: list[Line | str] = [
        {"task_id": "Else/1", "solution": RIGHT},
        '{"task_id": "Own/1", "solu',
        "[]",
        {"task_id": "Own/1"},
        {"task_id": "Own/1", "solution": 5},
    ]
    lines = (
        "line 2: not JSON",
        "line 3: expected an object",
        "line 4: expected the program of 'Own/1' as text",
        "got solution 5",
    )
    unknown, number = "1 sample of 1 task that no problem has: Else/1", "4 lines cannot be read:"
    partial = f"{grading.command(broken)} --partial"
    grading.place.expect(partial, 1, "!nan", unknown, number, *lines, "0 of 1")
    report = grading.graded(grading.command([(1, RIGHT), *broken[3:]]), code=1)
    assert report["outcomes"] == {"passed": 1}


def test_pass_at_k(grading: Grading) -> None:
    """The unbiased estimate over tasks; with fewer samples than k nothing is said, and why."""
    programs = [(n, text) for n in (1, 2) for text in (RIGHT, WRONG, ONLY_BASE)]
    call = grading.command(programs, [problem(1), problem(2)])
    values = grading.graded(f"{call} --k 1,2,5")["pass_at_k"]
    assert values["base"] == {"1": pytest.approx(2 / 3), "2": 1.0, "5": None}
    assert values["base and plus"] == {"1": pytest.approx(1 / 3), "2": pytest.approx(2 / 3), "5": None}
    grading.place.expect(f"{call} --k 5", 0, "no pass@5: 2 of 2 tasks have fewer than 5 samples")
    grading.place.expect(f"{call} --k 0,x", 2, "expected --k as whole numbers from 1")


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
    tests = ("def test_f():\n    assert f(1) == 2\n", "def check(candidate):\n    assert candidate(1) == 2\n")
    problems = [{**PLAIN, "task_id": f"Own/{number}", "test": test} for number, test in enumerate(tests, 1)]
    call = grading.command([(1, RIGHT), (1, "def f(x:\n"), (2, RIGHT)], problems)
    said = grading.place.expect(call, 1, "refused, because they cannot grade: 1 problem:")
    assert said.count("the tests of Own/1 prove nothing") == 1
    assert grading.graded(call, code=1)["outcomes"] == {"passed": 1}


def test_lines_of_other_samples_stay(grading: Grading) -> None:
    """Two files of samples, one after the other, or two models, with the same --out: no verdict is lost."""
    wanted = [("a", 1, RIGHT, "passed"), ("a", 2, WRONG, "failed"), ("b", 1, RIGHT, "passed")]
    for model, number, program, _ in wanted:
        call = grading.command([(number, program)], [problem(1), problem(2)])
        assert grading.graded(f"{call} --partial --model {model}")["samples"] == 1
    found = sorted((line["model"], line["task_id"], line["outcome"]) for line in grading.kept())
    assert found == [(model, f"Own/{number}", outcome) for model, number, _, outcome in wanted]


def test_a_label_is_that_of_the_call(grading: Grading) -> None:
    """Without --model a kept verdict is nobody's; the line of the model that was named before stays."""
    call = grading.command([(1, RIGHT)])
    grading.graded(f"{call} --model a")
    assert grading.graded(call)["kept"] == 1
    models = [(line.get("model"), line["outcome"]) for line in grading.kept()]
    assert models == [(None, "passed"), ("a", "passed")]


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
    grading.graded(grading.command(samples, [good]))
    lines = grading.out.read_bytes()
    grading.place.expect(f"{grading.command(samples, [good | after])} --out {grading.out}", 1, reason)
    assert grading.out.read_bytes() == lines
    assert grading.graded(grading.command(samples, [good]))["kept"] == 2
