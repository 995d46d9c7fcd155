"""Self-invoking problems: judged by their assertions, linked with their base problems."""

from collections.abc import AsyncIterator

import pytest

from support.hashes import hashes
from support.loop_fakes import FakeModel
from support.official_data import official_store
from triathlon_runner import evolved
from triathlon_runner.datasets import DataStore, FunctionProblem, TestedProblem
from triathlon_runner.evolved import STOP_SELF_INVOKING, EvolvedSuite
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.llm import Chat, Completion
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import DataSetInfo, SuiteEntry

BASE = "def half(n):\n    return n // 2\n"
BOTH = f"{BASE}\n\ndef halves(numbers):\n    return [half(n) for n in numbers]\n"
PAIR = TestedProblem(
    task_id="own/1",
    entry_point="halves",
    prompt="# Halve a number, rounded down.\ndef half(n):\n\n# Halve all.\ndef halves(numbers):\n",
    tests="assert halves([4, 7]) == [2, 3]\nassert halves([]) == []\n",
    reference=BOTH,
    parents=("own/base",),
)


@pytest.fixture
async def grader() -> AsyncIterator[Grader]:
    async with open_sandbox(jobs=2) as sandbox:
        yield ProgramGrader(sandbox)


def suite() -> EvolvedSuite:
    return EvolvedSuite(
        id="evolved/own-pro",
        data=DataSetInfo("own", "1", "0" * 64),
        problems={PAIR.task_id: PAIR},
        inputs="all",
        prompts=load_prompts("evolved"),
        self_invoking=True,
    )


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        (BOTH, Outcome.PASSED),
        ("def halves(numbers):\n    return [n // 2 for n in numbers]\n", Outcome.PASSED),
        (BOTH.replace("// 2", "/ 2"), Outcome.FAILED),
        (BASE, Outcome.CRASHED),
        ("def halves(numbers):\n    return [half(n) for n in numbers]\n", Outcome.CRASHED),
        (
            "class Any(list):\n    def __eq__(self, other):\n        return True\n\n\n"
            "def halves(numbers):\n    return Any()\n",
            Outcome.FAILED,
        ),
    ],
)
async def test_judged_by_assertions(grader: Grader, program: str, outcome: Outcome) -> None:
    """A program passes where all assertions hold; an object that equals everything is reduced to its data."""
    model = FakeModel(lambda _: f"```python\n{program}```")
    record = await suite().run("own/1", 0, model, grader, hashes("hash"))
    assert record.outcome is outcome
    assert record.parents == ("own/base",)


async def test_instruction_names_the_tested_function(grader: Grader) -> None:
    """Both problems and the name that the tests call are in the question, as some prompts lack that name."""
    model = FakeModel(lambda _: f"```python\n{BOTH}```")
    await suite().run("own/1", 0, model, grader, hashes("hash"))
    ((asked, sampling, _),) = model.asked
    assert isinstance(asked, Chat)
    text = asked.messages[-1].content
    assert PAIR.prompt.strip() in text
    assert "`halves`" in text
    assert sampling.stop == ()


async def test_base_model_continues_an_open_code_block(grader: Grader) -> None:
    """A base model goes on behind the instruction and an opened code block, up to the end of that block."""
    model = FakeModel(lambda _: BOTH, kind="base")
    record = await suite().run("own/1", 0, model, grader, hashes("hash"))
    ((asked, sampling, _),) = model.asked
    assert isinstance(asked, Completion)
    assert asked.text.endswith("\n\n```python\n")
    assert sampling.stop == STOP_SELF_INVOKING
    assert record.outcome is Outcome.PASSED
    assert suite().settings("base") != suite().settings("instruct")


def functions(entry: SuiteEntry, store: DataStore) -> tuple[FunctionProblem, ...]:
    built = entry.build(store)
    assert isinstance(built, EvolvedSuite)
    return built.functions()


@pytest.mark.official
@pytest.mark.parametrize(
    ("name", "seeds", "size"), [("humaneval", "humaneval", 164), ("mbpp", "mbpp-plus", 378)]
)
async def test_official_problems(grader: Grader, name: str, seeds: str, size: int) -> None:
    """Each problem has its base problem in the seeds, whose function is in its prompt; references pass.

    Every twentieth reference is executed. MBPP Pro's number 68 renames the function of its base problem.
    """
    store = official_store()
    entries = {entry.id: entry for entry in evolved.catalogue()}
    pro, base = (functions(entries[one], store) for one in (f"evolved/{name}-pro", f"evolved/{seeds}"))
    assert entries[f"evolved/{name}-pro"].seeds == f"evolved/{seeds}"
    known = {problem.task_id: problem for problem in base}
    strange = [one.task_id for one in pro if known[one.parents[0]].entry_point not in one.prompt]
    assert len(pro) == size
    assert strange == (["MbppPro/68"] if name == "mbpp" else [])
    for problem in pro[::20]:
        assert (await grader.grade(problem.reference, problem)).outcome is Outcome.PASSED
        assert (await grader.grade("x = 1\n", problem)).outcome is Outcome.CRASHED
