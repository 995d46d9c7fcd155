"""A unit of an evolved suite: asked, taken out of the reply, judged, recorded."""

from typing import Literal, cast

import pytest

from support.hashes import hashes
from support.loop_fakes import FakeModel
from support.official_data import official_store
from triathlon_runner import evolved
from triathlon_runner.datasets import DataStore, FunctionProblem, Problem
from triathlon_runner.evolved import EvolvedSuite
from triathlon_runner.llm import Chat, Completion, EndpointError, ModelKind
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import EvolvedRecord, Finish, Outcome, Reply, Verdict
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo, SuiteEntry

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


class _Grader:
    """Passes whatever it gets and remembers it."""

    sandbox = cast(Sandbox, None)

    def __init__(self, outcome: Outcome = Outcome.PASSED) -> None:
        self.outcome = outcome
        self.judged: list[tuple[str, str]] = []

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        self.judged.append((program, inputs))
        return Verdict(outcome=self.outcome, passed=0, total=2)


def _suite(inputs: Literal["base", "all"] = "all") -> EvolvedSuite:
    data = DataSetInfo("a set", "1", "0" * 64)
    return EvolvedSuite("evolved/a", data, {PROBLEM.task_id: PROBLEM}, inputs, load_prompts("evolved"))


def _model(said: str | Reply | EndpointError, kind: ModelKind = "instruct") -> FakeModel:
    return FakeModel(lambda _: said, kind=kind)


async def _run(model: FakeModel, grader: _Grader, suite: EvolvedSuite | None = None) -> EvolvedRecord:
    return await (suite or _suite()).run("set/double", 3, model, grader, hashes("hash"))


async def test_instruct_model() -> None:
    """An instruct model gets an instruction around the whole prompt and its code block is executed."""
    model, grader = _model(f"Sure:\n```python\n{SOLUTION}```"), _Grader()
    record = await _run(model, grader, _suite("base"))
    (asked, sampling, sample) = model.asked[0]
    assert isinstance(asked, Chat)
    assert PROBLEM.prompt.strip() in asked.messages[0].content
    assert (sampling.temperature, sampling.stop, sample) == (0.0, (), 3)
    assert grader.judged == [(SOLUTION, "base")]
    assert record.outcome is Outcome.PASSED
    assert (record.sample, record.protocol, record.parents) == (3, hashes("hash"), ("seeds/same",))
    assert record.prompt == asked.messages[0].content


async def test_base_model() -> None:
    """A base model completes signature and docstring, and stops where the function ends."""
    model, grader = _model("    return n + n\n\nx = 1\n", "base"), _Grader()
    record = await _run(model, grader)
    (asked, sampling, _) = model.asked[0]
    assert asked == Completion('def double(n: int) -> int:\n    """Return twice n."""\n')
    assert sampling.stop == evolved.STOP
    assert record.program == 'def double(n: int) -> int:\n    """Return twice n."""\n    return n + n\n'
    assert record.changes == ("cut off what follows the function",)
    assert grader.judged == [(record.program, "all")]


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
    grader = _Grader()
    record = await _run(_model(reply), grader)
    assert (record.outcome, record.verdict, record.program) == (outcome, None, "")
    assert grader.judged == []


async def test_outcome_is_the_verdicts() -> None:
    """What the execution showed is the unit's outcome."""
    record = await _run(_model(SOLUTION), _Grader(Outcome.TIMED_OUT))
    assert record.outcome is Outcome.TIMED_OUT
    assert record.verdict is not None


async def test_endpoint_failure_is_no_record() -> None:
    """A failing endpoint leaves the unit open instead of recording an answer."""
    with pytest.raises(EndpointError):
        await _run(_model(EndpointError("503")), _Grader())


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


@pytest.mark.slow
@pytest.mark.official
def test_official_suites_build() -> None:
    """Every official suite builds from the data files and has the size of its set."""
    store = official_store()
    suites = [entry.build(store) for entry in evolved.catalogue() if not entry.core]
    sizes = {suite.id.removeprefix("evolved/"): len(suite.tasks()) for suite in suites}
    assert {sizes[name] for name in ("humaneval", "humaneval-plus", "verbose", "concise")} == {164}
    assert sizes["difficult"] == sizes["tool_use-main_only"] == 100
