"""Judging a program by its reference; programs from public reports about other graders; results as sets."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from support.case_files import programs
from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.grading import ProgramGrader, UngradableError
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox

FOLDER = Path(__file__).parent
pytestmark = pytest.mark.asyncio(loop_scope="module")

THIRDS = Problem(
    task_id="test/thirds",
    entry_point="f",
    prompt="def f(x):\n",
    reference="def f(x):\n    return [x, x / 3]\n",
    inputs=("(1,)", "(2,)", "(3,)"),
    comparison=Comparison("close", tolerance=1e-6),
)
P, F, T = Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT


@pytest.fixture
def grader(sandbox: Sandbox) -> ProgramGrader:
    """A grader that gives up soon."""
    return ProgramGrader(sandbox, None, min_cpu_seconds=1, wall_seconds=1)


THIRDS_PROGRAMS = programs(FOLDER / "thirds_programs.txt")


@pytest.mark.parametrize(("program", "outcome", "passed"), THIRDS_PROGRAMS.values(), ids=THIRDS_PROGRAMS)
async def test_outcomes(grader: ProgramGrader, program: str, outcome: str, passed: int) -> None:
    """Each way to fail has its outcome, and the inputs passed before it are counted; numpy may be chosen."""
    verdict = await grader.grade(program, THIRDS)
    assert (verdict.outcome, verdict.passed, verdict.total) == (outcome, passed, 3)
    assert verdict.judged == "outside"


async def test_a_reference_may_raise_or_be_opaque(grader: ProgramGrader) -> None:
    """Where the reference raises a program has to, by the same type; a match counts if only None does not.

    A failing verdict shows the first failure.
    """
    divides = "def f(x):\n    return 6 // x\n"
    raising = Problem("test/raises", "f", "", divides, ("(2,)", "(0,)"), Comparison("exact"))
    assert (await grader.grade(divides, raising)).outcome is P
    for answer, got in (("3", "3"), ("3 if x else ''.x", "AttributeError")):
        verdict = await grader.grade(f"def f(x):\n    return {answer}\n", raising)
        assert (verdict.outcome, verdict.passed) == (F, 1)
        failing = verdict.failing
        assert failing is not None and (failing.index, failing.input) == (1, "(0,)")
        assert failing.expected == "raises ZeroDivisionError" and failing.got.startswith(got)
    matching = "import re\ndef f(x):\n    return re.match('a', x)\n"
    opaque = Problem("test/opaque", "f", "", matching, ("('a',)", "('b',)"), Comparison("not-none"))
    assert (await grader.grade(matching, opaque)).outcome is P


async def test_a_reference_that_is_refused_runs_once(sandbox: Sandbox) -> None:
    """However many programs it cannot grade."""
    with patch(
        "triathlon_runner.grading._program_grader.answer_key", side_effect=UngradableError("why")
    ) as key:
        grader = ProgramGrader(sandbox)
        for _ in range(2):
            with pytest.raises(UngradableError, match="why"):
                await grader.grade(THIRDS.reference, THIRDS)
    assert key.await_count == 1


ADD = "def add(a, b):\n    return a + b\n"
FIELD = programs(FOLDER / "field_programs.txt")
FORM_FEED = (f"import math\n\x0c\n{ADD}", "passed")


@pytest.mark.parametrize(
    ("program", "outcome"), [*FIELD.values(), FORM_FEED], ids=[*FIELD, "a form feed between lines"]
)
async def test_programs(sandbox: Sandbox, program: str, outcome: str) -> None:
    """What programs do beside their task neither stops the grader nor costs a right one its verdict."""
    asked = Problem("test/field", "add", "", ADD, ("(1, 2)",), Comparison("close", tolerance=1e-6))
    assert (await ProgramGrader(sandbox).grade(program, asked)).outcome == outcome


async def test_what_a_program_does_to_its_input_is_not_seen_by_the_next_call(sandbox: Sandbox) -> None:
    asked = Problem("test/field", "f", "", "def f(x):\n    return sorted(x)\n", ("([3, 1],)", "([3, 1],)"))
    verdict = await ProgramGrader(sandbox).grade("def f(x):\n    x.sort()\n    return x\n", asked)
    assert (verdict.outcome, verdict.passed) == (P, 2)


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
    body = f"    x = set(first) & set(second)\n    return {container}\n"
    return f"{IMPORTS}\ndef common(first, second):\n{body}"


@pytest.mark.parametrize("container", CONTAINERS)
async def test_every_container_as_by_evalplus_rule(container: str, grader: ProgramGrader) -> None:
    """Right where a `set` of what the program returns equals one of what the reference returns."""
    ours: dict[str, Any] = {}
    theirs: dict[str, Any] = {}
    exec(returning(container), ours)
    exec(COMMON.reference, theirs)
    try:
        right = all(set(ours["common"](*eval(t))) == set(theirs["common"](*eval(t))) for t in COMMON.inputs)
    except TypeError:
        right = False
    verdict = await grader.grade(returning(container), COMMON)
    assert (verdict.outcome is P) is right, verdict


async def test_a_function_gets_its_own_results(grader: ProgramGrader) -> None:
    """One that calls itself gets the set that it returned, not the list of its items."""
    recursive = (
        "def common(first, second):\n    if not first:\n        return set()\n"
        "    return {first[0]} & set(second) | common(first[1:], second)\n"
    )
    assert (await grader.grade(recursive, COMMON)).outcome is P


async def test_names_of_the_program_do_not_matter(grader: ProgramGrader) -> None:
    """A program may call its own functions `list` and `iter`; one whose items never end times out."""
    shadowing = returning("(i for i in x)") + "list = iter = TypeError = None\n"
    assert (await grader.grade(shadowing, COMMON)).outcome is P
    assert (await grader.grade(returning("(1 for _ in itertools.repeat(1))"), COMMON)).outcome is T
