"""Finding pairs by type and by executing them; the pair files."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

import pair_search
from pair_search import MIXED, common_type, fits, type_of
from support.official_data import official_store
from triathlon_runner.datasets import Problem, core, official
from triathlon_runner.evolved.problem_pairs import pair_problems, problem_hash, read_pairs
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox, open_sandbox


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox() as opened:
        yield opened


def _problem(name: str, body: str, *inputs: str, parameter: str = "x") -> Problem:
    prompt = f'def {name}({parameter}):\n    """{name} of {parameter}."""\n'
    return Problem(f"t/{name}", name, prompt, f"def {name}({parameter}):\n    {body}\n", inputs)


WORDS = _problem("words", "return x.split()", "('a b',)", "('c',)", "('a b c',)", "('',)")
COUNT = _problem("count", "return len(x)", "(['a'],)", "([],)")
FIRST = _problem("first", "return x[0]", "(['a'],)", "(['b', 'a'],)")
DOUBLE = _problem("double", "return 2 * x", "(1,)", "(2,)", "(3,)")
HUGE = _problem("huge", "return x if x < 2 else [x] * 10 ** 7", "(1,)", "(0,)", "(-1,)")
GONE = _problem("gone", "return x if x < 2 else exit()", "(1,)", "(0,)", "(-1,)")
SAME = _problem("same", "return 7", "(1,)", "(2,)", "(3,)")


async def test_pairs_by_type(sandbox: Sandbox) -> None:
    """B takes what A returns; inputs whose result B's reference can't take, or its contract forbids, go."""
    found = await pair_search.find_pairs((WORDS, COUNT, FIRST, DOUBLE), {}, sandbox)
    pairs = {(pair.first, pair.second): pair.dropped for pair in found.pairs}
    assert pairs == {("t/words", "t/count"): (), ("t/words", "t/first"): (3,)}

    found = await pair_search.find_pairs((WORDS, COUNT), {"t/count": "    assert len(x) != 2\n"}, sandbox)
    assert found.pairs == (pair_search.ProblemPair("t/words", "t/count", (0,)),)


async def test_pairs_that_tell_nothing(sandbox: Sandbox) -> None:
    """A pair that gives the same on all inputs, or whose second step explodes or exits, is no problem."""
    found = await pair_search.find_pairs((DOUBLE, SAME, HUGE, GONE), {}, sandbox)
    assert found.matching == 12
    assert not {pair.second for pair in found.pairs if pair.first == "t/double"}


async def test_prompts_of_no_pair(sandbox: Sandbox) -> None:
    """Functions with more than plain parameters, two of a name or none, and what does not say what to do."""
    text = '    """Length of x."""\n'
    parameters = ("x, /", "x, *more", "x, *, most", "x, **named", "x=()")
    unusual = [f"def count({each}):\n{text}" for each in parameters]
    prompts = (
        *unusual,
        f"def count(x):\n{text}" * 2,
        f"def other(x):\n{text}",
        "def count(x):\n    pass\n",
        "(",
    )
    counts = [replace(COUNT, task_id=f"t/{n}", prompt=prompt) for n, prompt in enumerate(prompts)]
    assert (await pair_search.find_pairs((WORDS, *counts), {}, sandbox)).matching == 0
    words = replace(WORDS, prompt=WORDS.prompt.replace("(x)", "(x='')"))
    assert (await pair_search.find_pairs((words, COUNT), {}, sandbox)).matching == 0


def test_draw_is_fixed_and_nested() -> None:
    """The same pairs are drawn everywhere, in the set's order; a smaller draw is part of a larger."""
    found = pair_search.FoundPairs(9, tuple(pair_search.ProblemPair("a", str(n)) for n in range(50)))
    small, large = pair_search.draw(found, 5), pair_search.draw(found, 20)
    assert len(small) == 5
    assert set(small) < set(large)
    assert list(large) == sorted(large, key=found.pairs.index)
    assert pair_search.draw(found, 99) == found.pairs


def test_core_file_is_current() -> None:
    known, seeds = read_pairs("core"), core.problems("seeds")
    how = "the seeds have changed: run `PYTHONPATH=tools python -m pair_search --only core`"
    assert known["searched"] == pair_search.set_hash(seeds), how
    hashes = {seed.task_id: problem_hash(seed) for seed in seeds}
    assert {name: hashes.get(name) for name in known["problems"]} == known["problems"], how
    assert len(pair_problems("core", seeds)) == len(known["pairs"]) == pair_search.CORE_PAIRS
    changed = [replace(seed, reference=f"{seed.reference}\n") for seed in seeds]
    assert pair_problems("core", changed) == (), "pairs of problems that have changed"


@pytest.mark.official
def test_humaneval_file() -> None:
    known = read_pairs("humaneval")
    assert (known["matching"], known["executable"], len(known["pairs"])) == (3401, 2355, 1074)
    humaneval = official.humaneval(official_store())
    assert known["searched"] == pair_search.set_hash(humaneval)
    problems = pair_problems("humaneval", humaneval)
    assert len(problems) == 1074
    assert all(len(problem.inputs) >= 3 for problem in problems)


@pytest.mark.official
async def test_references_of_a_few_pairs(sandbox: Sandbox) -> None:
    grader = ProgramGrader(sandbox)
    problems = pair_problems("humaneval", official.humaneval(official_store()))
    for problem in problems[::50]:
        verdict = await grader.grade(problem.reference, problem)
        assert (verdict.outcome, verdict.total) == (Outcome.PASSED, len(problem.inputs))


def test_types_that_fit() -> None:
    """Empty values fit those of any content; what is mixed, or of another type inside, never does."""
    assert str(type_of({"a": [1]})) == "dict[str, list[int]]" and str(type_of(None)) == "NoneType"
    assert str(type_of([[], [1]])) == "list[list[int]]" and str(type_of((1, "a"))) == "tuple[mixed]"
    assert str(common_type(map(type_of, [[], [1], []]))) == "list[int]"
    assert common_type(map(type_of, [1, None])) is MIXED
    assert fits(type_of([1]), type_of([2]))
    assert fits(type_of([]), type_of(["a"]))
    assert not fits(type_of([1]), type_of(["a"]))
    assert not fits(type_of(True), type_of(1))
    assert not fits(MIXED, MIXED)
    assert not fits(type_of([1, "a"]), type_of([1, "a"]))
