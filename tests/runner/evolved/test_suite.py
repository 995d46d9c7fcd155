"""A unit of an evolved suite: asked, taken out of the reply, judged and recorded; pass@1 and pass@k."""

import math
from pathlib import Path
from typing import Literal, cast

import pytest

from support.fake_model import FakeModel
from support.hashes import hashes
from support.loop_fakes import FakeGrader
from support.official_data import official_store
from support.small_run import ROWS, served
from triathlon_runner import evolved
from triathlon_runner.datasets import DataStore, FunctionProblem, Problem, TestedProblem
from triathlon_runner.evolved import STOP_SELF_INVOKING, EvolvedSuite, pass_at_k
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Chat, Completion, ModelKind
from triathlon_runner.metrics import pass_at_k_of
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import EvolvedRecord, Finish, Outcome, Reply, UnitRecord
from triathlon_runner.suites import DataSetInfo, UnitRun

ENTRIES = {entry.id: entry for entry in evolved.catalogue()}
PROBLEM = Problem(
    task_id="set/double",
    entry_point="double",
    prompt='def double(n: int) -> int:\n    """Return twice n."""\n    ',
    reference="def double(n):\n    return n * 2\n",
    inputs=("(1,)", "(2,)"),
    base_inputs=1,
    parents=("seeds/same",),
)
SOLUTION = "def double(n):\n    return n + n\n"
BASE = "def half(n):\n    return n // 2\n"
ALL = "def halves(numbers):\n    return [half(n) for n in numbers]\n"
BOTH = f"{BASE}\n\n{ALL}"
PAIR = TestedProblem(
    task_id="own/1",
    entry_point="halves",
    prompt="# Halve a number, rounded down.\ndef half(n):\n\n# Halve all.\ndef halves(numbers):\n",
    tests="assert halves([4, 7]) == [2, 3]\nassert halves([]) == []\n",
    reference=BOTH,
    parents=("own/base",),
)


def _suite(problem: FunctionProblem = PROBLEM, inputs: Literal["base", "all"] = "all") -> EvolvedSuite:
    data, prompts = DataSetInfo("a set", "1", "0" * 64), load_prompts("evolved")
    problems = {problem.task_id: problem}
    return EvolvedSuite("evolved/a", data, problems, inputs, prompts, self_invoking=problem is PAIR)


async def _run(
    suite: EvolvedSuite, said: str | Reply, grader: Grader, kind: ModelKind = "instruct"
) -> tuple[EvolvedRecord, FakeModel]:
    model = FakeModel(lambda _: said, kind=kind)
    task = suite.tasks()[0].task_id
    return await suite.run(UnitRun(task, 3, model, grader, hashes("hash"))), model


async def test_instruct_model() -> None:
    """It gets an instruction around the whole prompt, and its code block is executed."""
    grader = FakeGrader()
    record, model = await _run(_suite(inputs="base"), f"Sure:\n```python\n{SOLUTION}```", grader)
    (asked, sampling, sample) = model.asked[0]
    assert isinstance(asked, Chat)
    assert PROBLEM.prompt.strip() in asked.messages[0].content
    assert (sampling.temperature, sampling.stop, sample) == (0.0, (), 3)
    assert (grader.judged, grader.inputs) == ([SOLUTION], ["base"])
    assert (record.outcome, record.sample) == (Outcome.PASSED, 3)
    assert (record.protocol, record.parents) == (hashes("hash"), ("seeds/same",))
    assert record.prompt == asked.messages[0].content


async def test_base_model() -> None:
    """It completes signature and docstring, and stops where the function ends."""
    grader = FakeGrader()
    record, model = await _run(_suite(), "    return n + n\n\nx = 1\n", grader, "base")
    (asked, sampling, _) = model.asked[0]
    assert asked == Completion('def double(n: int) -> int:\n    """Return twice n."""\n')
    assert sampling.stop == evolved.STOP
    assert record.program == 'def double(n: int) -> int:\n    """Return twice n."""\n    return n + n\n'
    assert record.changes == ("cut off what follows the function",)
    assert (grader.judged, grader.inputs) == ([record.program], ["all"])


async def test_how_a_unit_ends() -> None:
    """What is no program is not judged."""
    grader = FakeGrader()
    record, _ = await _run(_suite(), Reply(text="def double", finish=Finish.LENGTH), grader)
    assert (record.outcome, record.verdict, record.program) == (Outcome.TRUNCATED, None, "")
    assert grader.judged == []
    record, _ = await _run(_suite(), SOLUTION + "# wrong\n", grader)
    assert record.outcome is Outcome.FAILED and record.verdict is not None


def test_another_temperature_is_another_suite() -> None:
    """Sampling at a temperature has an id, a protocol and metrics of its own; at 0 it is the greedy suite."""
    greedy = ENTRIES["evolved/core-seeds"]
    assert greedy.at_temperature is not None
    warm, cold = map(greedy.at_temperature, (0.8, 0.0))
    assert (cold.id, warm.variant_of, warm.variant_kind) == (greedy.id, greedy.id, "temperatures")
    assert [metric.id for metric in warm.metrics[:3]] == ["pass@1", "pass@2", "pass@3"]
    suite = warm.build(cast(DataStore, None))
    assert (suite.id, suite.protocol["asked"]["temperature"]) == (warm.id, 0.8)


@pytest.mark.parametrize(
    ("program", "outcome"),
    [(BOTH, Outcome.PASSED), (BOTH.replace("// 2", "/ 2"), Outcome.FAILED), (ALL, Outcome.CRASHED)],
)
async def test_judged_by_assertions(grader: Grader, program: str, outcome: Outcome) -> None:
    """Both problems, and the name that the tests call, are in the question: some prompts lack it."""
    record, model = await _run(_suite(PAIR), f"```python\n{program}```", grader)
    assert (record.outcome, record.parents) == (outcome, ("own/base",))
    assert PAIR.prompt.strip() in model.texts[0] and "`halves`" in model.texts[0]
    assert model.asked[0][1].stop == ()


async def test_base_model_continues_an_open_code_block(grader: Grader) -> None:
    record, model = await _run(_suite(PAIR), BOTH, grader, "base")
    ((asked, sampling, _),) = model.asked
    assert isinstance(asked, Completion) and asked.text.endswith("\n\n```python\n")
    assert sampling.stop == STOP_SELF_INVOKING
    assert record.outcome is Outcome.PASSED


def test_a_base_model_samples_by_the_command(tmp_path: Path) -> None:
    """What its row says of its kind decides the endpoint; each sample is asked for and is a unit."""
    with served(tmp_path, rows=ROWS.replace("name: M", "kind: base")) as place:
        place.expect("run --suites evolved/core-seeds --limit 2 --samples 3 --temperature 0.8", 0)
    assert [set(body) & {"prompt", "messages"} for body in place.requests] == 6 * [{"prompt"}]
    samples = place.records("evolved/core-seeds@temperature-0.8")
    assert [sample["sample"] for sample in samples] == 2 * [0, 1, 2]


@pytest.mark.official
@pytest.mark.parametrize(("name", "size"), [("humaneval", 164), ("mbpp", 378)])
async def test_official_problems(grader: Grader, name: str, size: int) -> None:
    """The base problem's function is in the prompt, but in MBPP Pro's number 68; references pass."""
    entry = ENTRIES[f"evolved/{name}-pro"]
    suite, seed_suite = (each.build(official_store()) for each in (entry, ENTRIES[str(entry.seeds)]))
    assert isinstance(suite, EvolvedSuite) and isinstance(seed_suite, EvolvedSuite)
    pro, known = suite.functions(), seed_suite.problems
    strange = [each.task_id for each in pro if known[each.parents[0]].entry_point not in each.prompt]
    assert len(pro) == size
    assert strange == (["MbppPro/68"] if name == "mbpp" else [])
    for problem in pro[::20]:
        assert (await grader.grade(problem.reference, problem)).outcome is Outcome.PASSED
        assert (await grader.grade("x = 1\n", problem)).outcome is Outcome.CRASHED


OUTCOMES = {"p": Outcome.PASSED, "f": Outcome.FAILED, "t": Outcome.TRUNCATED}


@pytest.mark.parametrize(
    ("k", "samples", "score"),
    [
        (1, {"a": "p", "b": "f", "c": "t", "d": "p"}, 0.5),
        (2, {"a": "pff", "b": "pp", "c": "ff"}, (2 / 3 + 1 + 0) / 3),
        (3, {"a": "ppfff", "b": "f"}, 1 - 1 / 10),
        (3, {"b": "f"}, math.nan),
        (1, {}, math.nan),
    ],
)
def test_pass_at_k(k: int, samples: dict[str, str], score: float) -> None:
    """The share of k-subsets with a right one, a mean over tasks with k samples; without one no score."""
    records = [
        UnitRecord(suite="s", model="m", task_id=task, protocol=hashes(""), outcome=OUTCOMES[letter])
        for task, letters in samples.items()
        for letter in letters
    ]
    assert pass_at_k(k).score(records) == pytest.approx(score, nan_ok=True)
    with pytest.raises(ValueError, match="k <= samples"):
        pass_at_k_of(k - 1, 0, k)
