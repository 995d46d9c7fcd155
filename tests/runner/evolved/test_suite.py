"""A unit of an evolved suite: asked, taken out of the reply, judged and recorded; self-invoking ones, too."""

from typing import Literal, cast

import pytest

from support.hashes import hashes
from support.loop_fakes import FakeGrader, FakeModel
from support.official_data import official_store
from triathlon_runner import evolved
from triathlon_runner.datasets import DataStore, FunctionProblem, Problem, TestedProblem
from triathlon_runner.evolved import STOP_SELF_INVOKING, EvolvedSuite
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Chat, Completion, EndpointError, ModelKind
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import EvolvedRecord, Finish, Outcome, Reply
from triathlon_runner.suites import DataSetInfo, SuiteEntry, UnitRun

PROBLEM = Problem(
    task_id="set/double",
    entry_point="double",
    prompt='def double(n: int) -> int:\n    """Return twice n."""\n    ',
    reference="def double(n):\n    return n * 2\n",
    inputs=("(1,)", "(2,)"),
    base_inputs=1,
    parents=("seeds/same",),
    level=2,
)
SOLUTION = "def double(n):\n    return n + n\n"


def _suite(inputs: Literal["base", "all"] = "all") -> EvolvedSuite:
    data = DataSetInfo("a set", "1", "0" * 64)
    return EvolvedSuite("evolved/a", data, {PROBLEM.task_id: PROBLEM}, inputs, load_prompts("evolved"))


def _model(said: str | Reply | EndpointError, kind: ModelKind = "instruct") -> FakeModel:
    return FakeModel(lambda _: said, kind=kind)


async def _run(model: FakeModel, grader: FakeGrader, suite: EvolvedSuite | None = None) -> EvolvedRecord:
    return await (suite or _suite()).run(UnitRun("set/double", 3, model, grader, hashes("hash")))


async def test_instruct_model() -> None:
    """An instruct model gets an instruction around the whole prompt and its code block is executed."""
    model, grader = _model(f"Sure:\n```python\n{SOLUTION}```"), FakeGrader()
    record = await _run(model, grader, _suite("base"))
    (asked, sampling, sample) = model.asked[0]
    assert isinstance(asked, Chat)
    assert PROBLEM.prompt.strip() in asked.messages[0].content
    assert (sampling.temperature, sampling.stop, sample) == (0.0, (), 3)
    assert (grader.judged, grader.inputs) == ([SOLUTION], ["base"])
    assert record.outcome is Outcome.PASSED
    assert (record.sample, record.protocol, record.parents) == (3, hashes("hash"), ("seeds/same",))
    assert record.prompt == asked.messages[0].content


async def test_base_model() -> None:
    """A base model completes signature and docstring, and stops where the function ends."""
    model, grader = _model("    return n + n\n\nx = 1\n", "base"), FakeGrader()
    record = await _run(model, grader)
    (asked, sampling, _) = model.asked[0]
    assert asked == Completion('def double(n: int) -> int:\n    """Return twice n."""\n')
    assert sampling.stop == evolved.STOP
    assert record.program == 'def double(n: int) -> int:\n    """Return twice n."""\n    return n + n\n'
    assert record.changes == ("cut off what follows the function",)
    assert (grader.judged, grader.inputs) == ([record.program], ["all"])


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(text="I would rather not."), Outcome.NO_ANSWER),
        (Reply(text="```python\ndef double(n):\n    return (n", finish=Finish.LENGTH), Outcome.TRUNCATED),
        (Reply(text="", finish=Finish.REFUSED), Outcome.REFUSED),
    ],
)
async def test_no_program(reply: Reply, outcome: Outcome) -> None:
    """Where there is no program nothing is executed, and the outcome says why."""
    grader = FakeGrader()
    record = await _run(_model(reply), grader)
    assert (record.outcome, record.verdict, record.program) == (outcome, None, "")
    assert grader.judged == []


async def test_outcome_is_the_verdicts() -> None:
    """What the execution showed is the unit's outcome."""
    record = await _run(_model(SOLUTION + "# wrong\n"), FakeGrader())
    assert record.outcome is Outcome.FAILED
    assert record.verdict is not None


async def test_endpoint_failure_is_no_record() -> None:
    """A failing endpoint leaves the unit open instead of recording an answer."""
    with pytest.raises(EndpointError):
        await _run(_model(EndpointError("503")), FakeGrader())


def test_protocol_covers_what_shapes_a_result() -> None:
    """Data and templates are part of what is asked, the inputs of how it is graded; the kind of neither."""
    suite, base_inputs = _suite(), _suite("base")
    asked, graded = suite.protocol["asked"], suite.protocol["graded"]
    assert asked["data"] == graded["data"] == "0" * 64
    assert asked["prompts"] == load_prompts("evolved").digest("solve")
    assert (base_inputs.protocol["asked"] == asked, base_inputs.protocol["graded"] == graded) == (True, False)
    assert suite.settings("base") != suite.settings("instruct")


def _warm(entry: SuiteEntry, temperature: float) -> SuiteEntry:
    assert entry.at_temperature is not None
    return entry.at_temperature(temperature)


def test_another_temperature_is_another_suite() -> None:
    """Sampling at a temperature has an id, a protocol and metrics of its own; at 0 it is the greedy suite."""
    greedy = evolved.catalogue()[0]
    warm = _warm(greedy, 0.8)
    assert (warm.id, warm.variant_of, warm.variant_kind) == (
        "evolved/core-seeds@temperature-0.8",
        "evolved/core-seeds",
        "temperatures",
    )
    assert _warm(greedy, 0.0).id == greedy.id
    assert [metric.id for metric in warm.metrics[:3]] == ["pass@1", "pass@2", "pass@3"]
    suites = [entry.build(cast(DataStore, None)) for entry in (greedy, warm, _warm(greedy, 0.2))]
    assert [suite.id for suite in suites] == [greedy.id, warm.id, "evolved/core-seeds@temperature-0.2"]
    assert [suite.protocol["asked"]["temperature"] for suite in suites] == [0.0, 0.8, 0.2]


def test_catalogue_is_known_without_data() -> None:
    """Every set of the paper is a suite, officially and as ours; ids are unique."""
    ids = [entry.id for entry in evolved.catalogue()]
    assert len(set(ids)) == len(ids)
    for name in ("difficult", "creative", "subtle", "combine", "tool_use", "tool_use-main_only"):
        assert {f"evolved/{name}", f"evolved/core-{name}"} <= set(ids)
    assert {"evolved/humaneval", "evolved/humaneval-plus", "evolved/core-decompose"} <= set(ids)
    assert all(entry.core == entry.id.startswith("evolved/core-") for entry in evolved.catalogue())


@pytest.mark.official
def test_humaneval_and_humaneval_plus_share_their_replies() -> None:
    """Both ask the same, and equal questions are asked once: a run of both gives both, other tests aside."""
    names = ("evolved/humaneval", "evolved/humaneval-plus")
    store = official_store()
    plain, plus = (entry.build(store) for entry in evolved.catalogue() if entry.id in names)
    assert plain.protocol["asked"] == plus.protocol["asked"]
    assert plain.protocol["graded"] != plus.protocol["graded"]


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
    record = await suite().run(UnitRun("own/1", 0, model, grader, hashes("hash")))
    assert record.outcome is outcome
    assert record.parents == ("own/base",)


async def test_instruction_names_the_tested_function(grader: Grader) -> None:
    """Both problems and the name that the tests call are in the question, as some prompts lack that name."""
    model = FakeModel(lambda _: f"```python\n{BOTH}```")
    await suite().run(UnitRun("own/1", 0, model, grader, hashes("hash")))
    ((asked, sampling, _),) = model.asked
    assert isinstance(asked, Chat)
    text = asked.messages[-1].content
    assert PAIR.prompt.strip() in text
    assert "`halves`" in text
    assert sampling.stop == ()


async def test_base_model_continues_an_open_code_block(grader: Grader) -> None:
    """A base model goes on behind the instruction and an opened code block, up to the end of that block."""
    model = FakeModel(lambda _: BOTH, kind="base")
    record = await suite().run(UnitRun("own/1", 0, model, grader, hashes("hash")))
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
