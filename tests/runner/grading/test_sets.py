"""The oracle of problems whose results count as sets: EvalPlus makes a `set` of both and compares these.

Every container of the standard library stands in a table; what Python's own `set` says of it is expected.
The table was tried once against the evaluation function of EvalPlus 0.3.1, with equal verdicts.
"""

from typing import Any

import pytest

from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROBLEM = Problem(
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


def program(container: str) -> str:
    """A right program that returns its items in this container."""
    return (
        f"{IMPORTS}\ndef common(first, second):\n    x = set(first) & set(second)\n    return {container}\n"
    )


def by_the_formula(container: str) -> bool:
    """Whether a `set` of what the program returns equals one of what the reference does, on all inputs."""
    spaces: list[dict[str, Any]] = [{}, {}]
    exec(program(container), spaces[0])
    exec(PROBLEM.reference, spaces[1])
    try:
        return all(
            set(spaces[0]["common"](*eval(text))) == set(spaces[1]["common"](*eval(text)))
            for text in PROBLEM.inputs
        )
    except TypeError:
        return False


@pytest.fixture
def grader(sandbox: Sandbox) -> ProgramGrader:
    return ProgramGrader(sandbox, min_cpu_seconds=1)


@pytest.mark.parametrize("container", CONTAINERS)
async def test_every_container_as_by_evalplus_rule(container: str, grader: ProgramGrader) -> None:
    """What a `set` can be made of counts by its items, and nothing else does."""
    verdict = await grader.grade(program(container), PROBLEM)
    assert (verdict.outcome is Outcome.PASSED) is by_the_formula(container), verdict


async def test_names_of_the_program_do_not_matter(grader: ProgramGrader) -> None:
    """A program may call its own functions `list` and `iter`; one whose items never end times out."""
    shadowing = program("(i for i in x)") + "list = iter = TypeError = None\n"
    assert (await grader.grade(shadowing, PROBLEM)).outcome is Outcome.PASSED
    verdict = await grader.grade(program("(1 for _ in itertools.repeat(1))"), PROBLEM)
    assert verdict.outcome is Outcome.TIMED_OUT
