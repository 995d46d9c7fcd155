"""Programs from public reports about other graders, each with the outcome that is right."""

import pytest

from support.official_data import official_store
from triathlon_runner.datasets import Comparison, Problem, official
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

P, F, C = Outcome.PASSED, Outcome.FAILED, Outcome.CRASHED
VALUES: list[tuple[str, str, str, Outcome]] = [
    ("an empty list for floats", "[1.1]", "[]", F),
    ("a number for a list of it", "[1.1]", "1.1", F),
    ("a large integer, one too many", "[50000000000000000]", "[50000000000000001]", F),
    ("the same beside a float", "[0.5, 50000000000000000]", "[0.5, 50000000000000001]", F),
    ("an int for a float of its value", "4.0", "4", P),
    ("nan for nan", "float('nan')", "float('nan')", P),
    ("a tuple for a list", "[1, 2]", "(1, 2)", F),
    ("a bool for an int", "1", "True", P),
    ("a generator for a list", "[1, 2]", "(x for x in [1, 2])", F),
]
"""What the reference returns, what the program returns, and the outcome."""
ADD = "def add(a, b):\n"
PROGRAMS: list[tuple[str, str, Outcome]] = [
    ("a coroutine", "async def add(a, b):\n    return a + b\n", F),
    ("much output", ADD + "    print('x' * 10000)\n    return a + b\n", P),
    ("a question to nobody", ADD + "    input()\n    return a + b\n", C),
    (
        "the whole of an empty input",
        "import sys\n" + ADD + "    sys.stdin.buffer.read()\n    return a + b\n",
        P,
    ),
    (
        "a recursion limit of its own",
        "import sys\nsys.setrecursionlimit(100000)\n"
        "def add(a, b, left=5000):\n    return add(a, b, left - 1) if left else a + b\n",
        P,
    ),
    (
        "a pool of threads, whose lock no program gets",
        "from multiprocessing.pool import ThreadPool\n" + ADD + "    with ThreadPool(2) as pool:\n"
        "        return sum(pool.map(int, [a, b]))\n",
        C,
    ),
    (
        "a temporary file",
        "import tempfile\n" + ADD + "    with tempfile.TemporaryFile('w+') as file:\n"
        "        file.write(str(a + b))\n        file.seek(0)\n        return int(file.read())\n",
        P,
    ),
    (
        "a folder that is gone",
        "import os, shutil, tempfile\n" + ADD + "    folder = tempfile.mkdtemp()\n    os.chdir(folder)\n"
        "    shutil.rmtree(folder)\n    return a + b\n",
        P,
    ),
    ("the program behind it", ADD + "    return a + b\n", P),
    ("a name beyond ASCII", ADD + "    größe = a\n    return größe + b\n", P),
    ("a coding line", "# -*- coding: latin-1 -*-\n" + ADD + "    return a + b\n", P),
    ("a form feed between lines", "import math\n\x0c\n" + ADD + "    return a + b\n", P),
    ("a NUL", ADD + "    return a + b\n\0", C),
    ("half a character, which no file can hold", "x = '\ud800'\n" + ADD + "    return a + b\n", C),
]
OFFICIAL: list[tuple[str, str]] = [
    ("Mbpp/287", "def square_Sum(n):\n    return 2 * n * (n + 1) * (2 * n + 1) // 3\n"),
    ("Mbpp/2", "def similar_elements(a, b):\n    return tuple(sorted(set(a) & set(b), key=repr))\n"),
    (
        "Mbpp/111",
        "def common_in_nested_lists(nested):\n"
        "    return sorted(set.intersection(*map(set, nested)), key=repr)\n",
    ),
    ("Mbpp/232", "import heapq\ndef larg_nnum(items, n):\n    return sorted(heapq.nlargest(n, items))\n"),
    (
        "HumanEval/0",
        "def has_close_elements(numbers, threshold):\n    s = sorted(numbers)\n"
        "    return any(abs(x - y) < threshold for x, y in zip(s, s[1:]))\n",
    ),
]
"""Right programs that graders refused: an exact integer, another order of a set, another method."""


def problem(name: str, reference: str, *inputs: str) -> Problem:
    return Problem(
        task_id="test/field",
        entry_point=name,
        prompt="",
        reference=reference,
        inputs=inputs,
        comparison=Comparison("close", tolerance=1e-6),
        base_inputs=len(inputs),
    )


@pytest.mark.parametrize(
    ("expected", "got", "outcome"), [row[1:] for row in VALUES], ids=[row[0] for row in VALUES]
)
async def test_values(sandbox: Sandbox, expected: str, got: str, outcome: Outcome) -> None:
    """What a program returns is compared as EvalPlus compares it, without its errors."""
    asked = problem("f", f"def f(x):\n    return {expected}\n", "(1,)")
    verdict = await ProgramGrader(sandbox).grade(f"def f(x):\n    return {got}\n", asked)
    assert verdict.outcome is outcome


async def test_what_a_program_does_to_its_input_is_not_seen_by_the_next_call(sandbox: Sandbox) -> None:
    """A list that is sorted in place stays as it was for the second input."""
    asked = problem("f", "def f(x):\n    return sorted(x)\n", "([3, 1],)", "([3, 1],)")
    verdict = await ProgramGrader(sandbox).grade("def f(x):\n    x.sort()\n    return x\n", asked)
    assert (verdict.outcome, verdict.passed) == (P, 2)


@pytest.mark.parametrize(
    ("program", "outcome"), [row[1:] for row in PROGRAMS], ids=[row[0] for row in PROGRAMS]
)
async def test_programs(sandbox: Sandbox, program: str, outcome: Outcome) -> None:
    """What programs do beside their task neither stops the grader nor costs a right one its verdict."""
    asked = problem("add", ADD + "    return a + b\n", "(1, 2)")
    assert (await ProgramGrader(sandbox).grade(program, asked)).outcome is outcome


@pytest.mark.official
@pytest.mark.parametrize(("task", "program"), OFFICIAL, ids=[row[0] for row in OFFICIAL])
async def test_right_programs_for_official_problems(sandbox: Sandbox, task: str, program: str) -> None:
    """A program that does what the task asks for passes, on all inputs."""
    read = official.mbpp_plus if task.startswith("Mbpp") else official.humaneval_plus
    (asked,) = [each for each in read(official_store()) if each.task_id == task]
    verdict = await ProgramGrader(sandbox).grade(program, asked)
    assert verdict.outcome is P, verdict
