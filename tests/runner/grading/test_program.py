"""Judging a program by its reference; programs from public reports about other graders; results as sets."""

from typing import Any

import pytest

from support.official_data import official_store
from triathlon_runner.datasets import Comparison, Problem, official
from triathlon_runner.grading import (
    ProgramGrader,
)
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.syntax import chosen_libraries

pytestmark = pytest.mark.asyncio(loop_scope="module")

THIRDS = Problem(
    task_id="test/thirds",
    entry_point="f",
    prompt="def f(x):\n",
    reference="def f(x):\n    return [x, x / 3]\n",
    inputs=("(1,)", "(2,)", "(3,)"),
    comparison=Comparison("close", tolerance=1e-6),
    base_inputs=2,
)


@pytest.fixture
def grader(sandbox: Sandbox) -> ProgramGrader:
    """A grader that gives up soon."""
    return ProgramGrader(sandbox, None, min_cpu_seconds=1, wall_seconds=1)


@pytest.mark.parametrize(
    ("program", "outcome", "passed"),
    [
        ("def f(x):\n    return [x, x / 3 + 1e-9]\n", Outcome.PASSED, 3),
        ("import numpy as np\ndef f(x):\n    return [x, float(np.float64(x) / 3)]\n", Outcome.PASSED, 3),
        ("def f(x):\n    return [x, 2 / 3]\n", Outcome.FAILED, 0),
        ("def f(x):\n    return [x, x / 3 if x < 3 else 0]\n", Outcome.FAILED, 2),
        ("def f(x):\n    return [x, x / (2 - x) / 3]\n", Outcome.CRASHED, 1),
        ("def f(x):\n    while x == 2: pass\n    return [x, x / 3]\n", Outcome.TIMED_OUT, 1),
        ("import time\ndef f(x):\n    time.sleep(99)\n", Outcome.TIMED_OUT, 0),
        ("import os\ndef f(x):\n    os._exit(0)\n", Outcome.CRASHED, 0),
        ("def f(x:\n", Outcome.CRASHED, 0),
        ("def g(x):\n    return x\n", Outcome.CRASHED, 0),
        ("def f(x):\n    return 'x' * 10 ** 7\n", Outcome.CRASHED, 0),
        ("", Outcome.CRASHED, 0),
        ("def f(x):\n    return [x, 0]\n\nassert f(1) == [1, 1]\n", Outcome.FAILED, 0),
        ("def f(x):\n    return [x, 0]\n\nraise ValueError\n", Outcome.CRASHED, 0),
    ],
)
async def test_outcomes(grader: ProgramGrader, program: str, outcome: Outcome, passed: int) -> None:
    """Each way to fail has its outcome, and the inputs passed before it are counted; numpy may be chosen."""
    verdict = await grader.grade(program, THIRDS)
    assert (verdict.outcome, verdict.passed, verdict.total) == (outcome, passed, 3)
    assert verdict.judged == "outside"


async def test_evidence_of_the_first_failure(grader: ProgramGrader) -> None:
    """A failing verdict shows input, expected and got."""
    verdict = await grader.grade("def f(x):\n    return x\n", THIRDS)
    assert verdict.failing is not None
    assert (verdict.failing.index, verdict.failing.input) == (0, "(1,)")
    assert (verdict.failing.expected, verdict.failing.got) == ("[1, 0.3333333333333333]", "1")


async def test_base_inputs_are_the_first(grader: ProgramGrader) -> None:
    """Judged on the base inputs, a program that fails on an additional one passes."""
    program = "def f(x):\n    return [x, x / 3 if x < 3 else 0]\n"
    verdict = await grader.grade(program, THIRDS, inputs="base")
    assert (verdict.outcome, verdict.total) == (Outcome.PASSED, 2)


async def test_a_reference_may_raise(grader: ProgramGrader) -> None:
    """On an input where the reference raises the program has to, with the same type of exception."""
    raising = Problem(
        "test/raises", "f", "", "def f(x):\n    return 6 // x\n", ("(2,)", "(0,)"), Comparison("exact")
    )
    assert (await grader.grade("def f(x):\n    return 6 // x\n", raising)).outcome is Outcome.PASSED
    for answer in ("3", "3 if x else ''.x"):
        verdict = await grader.grade(f"def f(x):\n    return {answer}\n", raising)
        assert (verdict.outcome, verdict.passed) == (Outcome.FAILED, 1)
        assert verdict.failing is not None and verdict.failing.expected == "raises ZeroDivisionError"


async def test_opaque_answers_never_match(grader: ProgramGrader) -> None:
    """Even where the reference itself returns a generator, another one is not the same answer."""
    problem = Problem("test/lazy", "f", "", "def f(x):\n    return iter([x])\n", ("(1,)",))
    assert (await grader.grade(problem.reference, problem)).outcome is Outcome.FAILED


async def test_blank_lines_are_read_once() -> None:
    """Whether a program imports NumPy is found in one pass."""
    assert chosen_libraries("numpy" + "\n" * 100_000) == frozenset()
    assert chosen_libraries("def f():\n    import numpy as np\n") == {"numpy"}


P, F, C = Outcome.PASSED, Outcome.FAILED, Outcome.CRASHED
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


COMMON = Problem(
    task_id="test/sets",
    entry_point="common",
    prompt="def common(first, second):\n",
    reference="def common(first, second):\n    return tuple(set(first) & set(second))\n",
    inputs=("((3, 4, 5, 6), (5, 7, 4, 10))", "((1, 2), (3, 4))"),
    comparison=Comparison("set"),
)
CONTAINERS = (
    *("list(x)", "tuple(x)", "set(x)", "frozenset(x)", "dict.fromkeys(x)", "bytes(x)", "bytearray(x)"),
    *("memoryview(bytes(x))", "range(min(x, default=0), max(x, default=-1) + 1)", "iter(x)"),
    *("(i for i in x)", "collections.OrderedDict.fromkeys(x).keys()"),
    *("map(int, x)", "filter(None, x)", "reversed(list(x))", "zip(x)", "enumerate(x)", "slice(*x)"),
    *("dict.fromkeys(x).keys()", "dict.fromkeys(x).items()", "{i: i for i in x}.values()"),
    *("dict(zip(x, x)).items()", "{str(i): i for i in x}", "''.join(map(str, x))", "[[i] for i in x]"),
    *("len(x)", "None", "True", "[*x, 0]", "[*x, *x]", "[float(i) for i in x]", "list(x)[:1]"),
    *("types.MappingProxyType(dict.fromkeys(x))", "collections.deque(x)", "collections.Counter(x)"),
    *("collections.OrderedDict.fromkeys(x)", "collections.defaultdict(int, dict.fromkeys(x))"),
    *("collections.ChainMap(dict.fromkeys(x))", "collections.UserDict(dict.fromkeys(x))"),
    *("collections.UserList(x)", "collections.UserString(''.join(map(str, x)))", "array.array('q', x)"),
    "collections.namedtuple('Pair', [f'f{i}' for i in x])(*x)",
    *("itertools.chain(x)", "itertools.islice(x, 9)", "heapq.merge(x)", "queue.Queue()", "weakref.WeakSet()"),
    *("enum.IntEnum('E', [(f'e{i}', i) for i in x])", "types.SimpleNamespace(x=x)", "io.StringIO('45')"),
)
IMPORTS = "import array, collections, enum, heapq, io, itertools, queue, types, weakref\n"


def returning(container: str) -> str:
    """A right program that returns its items in this container."""
    return (
        f"{IMPORTS}\ndef common(first, second):\n    x = set(first) & set(second)\n    return {container}\n"
    )


def by_the_formula(container: str) -> bool:
    """Whether a `set` of what the program returns equals one of what the reference does, on all inputs."""
    spaces: list[dict[str, Any]] = [{}, {}]
    exec(returning(container), spaces[0])
    exec(COMMON.reference, spaces[1])
    try:
        return all(
            set(spaces[0]["common"](*eval(text))) == set(spaces[1]["common"](*eval(text)))
            for text in COMMON.inputs
        )
    except TypeError:
        return False


@pytest.mark.parametrize("container", CONTAINERS)
async def test_every_container_as_by_evalplus_rule(container: str, grader: ProgramGrader) -> None:
    """What a `set` can be made of counts by its items, and nothing else does."""
    verdict = await grader.grade(returning(container), COMMON)
    assert (verdict.outcome is Outcome.PASSED) is by_the_formula(container), verdict


async def test_names_of_the_program_do_not_matter(grader: ProgramGrader) -> None:
    """A program may call its own functions `list` and `iter`; one whose items never end times out."""
    shadowing = returning("(i for i in x)") + "list = iter = TypeError = None\n"
    assert (await grader.grade(shadowing, COMMON)).outcome is Outcome.PASSED
    verdict = await grader.grade(returning("(1 for _ in itertools.repeat(1))"), COMMON)
    assert verdict.outcome is Outcome.TIMED_OUT
