"""docs/architecture.md names the files that a question about a program passes on its way to a score."""

import sys
from collections.abc import AsyncIterator
from itertools import product
from typing import Final, get_args

import pytest

from support.built_questions import source
from support.code_path import BESIDE, Follower, documented_path, documented_steps
from support.fake_model import FakeModel
from support.hashes import hashes
from support.runtime_models import all_right, answers, right_on, truths
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.llm import ModelKind
from triathlon_runner.metrics import Metric
from triathlon_runner.prompts import load_prompts
from triathlon_runner.runtime import METRICS, RuntimeSuite
from triathlon_runner.runtime._construct import QuestionSource
from triathlon_runner.runtime._metrics import PREDICTION_METRICS
from triathlon_runner.runtime._programs import Side
from triathlon_runner.runtime._questions import STYLES, Asker, Style
from triathlon_runner.runtime._sandboxed import programs
from triathlon_runner.runtime._suite import PredictionSuite
from triathlon_runner.sandbox import Execution, Job, Returned, open_sandbox
from triathlon_runner.suites import DataSetInfo, UnitRun

MODEL_KINDS: Final[tuple[ModelKind, ...]] = get_args(ModelKind)
SANDBOX: Final = {
    file
    for file in documented_path("The path of one program", "The path of one question")
    if file.startswith("sandbox/") and "_inside" not in file
}
"""The files that executing an assertion (step 5) adds; `_inside` is in a process that cannot be followed."""
PREDICTED = CruxevalTask("t/own", "def f(x):\n    return [*x, 1]\n", "['a']", "['a', 1]")
DATA = DataSetInfo("t", "1", "0" * 64)


def check(follower: Follower, *steps: int, beside: str = "") -> None:
    """The files are those that the document names in these steps, and those of the sandbox."""
    files = documented_steps("The path of one question", "Programs never run")
    path = SANDBOX.union(*(files[step - 1] for step in steps))
    assert path <= follower.files <= path | BESIDE | {beside}


@pytest.fixture
async def grader(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Grader]:
    """Makes each call into the sandbox again in this process, where it can be followed."""
    async with open_sandbox(jobs=1) as sandbox:
        run_in_child = sandbox.run

        async def run(job: Job) -> Execution:
            execution = await run_in_child(job)
            assert isinstance(job.calls, tuple)
            for call, result in zip(job.calls, execution.results, strict=True):
                assert isinstance(call.arguments, tuple)
                assert Returned(getattr(programs, call.function)(*call.arguments)) == result
            return execution

        monkeypatch.setattr(sandbox, "run", run)
        yield ProgramGrader(sandbox)
        sys.modules.pop("program", None)


async def score(
    suite: RuntimeSuite | PredictionSuite, model: FakeModel, grader: Grader, metric: Metric
) -> float:
    units = [UnitRun(task.task_id, 0, model, grader, hashes("p")) for task in suite.tasks()]
    records = [await suite.run(unit) for unit in units]
    return metric.score(records)


@pytest.mark.parametrize("style", STYLES)
async def test_the_documented_files_are_those_that_a_question_passes(grader: Grader, style: Style) -> None:
    """From the question to the score, of all four kinds: steps 1 to 6."""
    async with open_sandbox(jobs=1) as sandbox:
        questions = await source().build(sandbox)
    suite = RuntimeSuite(
        "runtime/t", Asker(load_prompts("runtime"), style), QuestionSource(DATA, tuple, file=questions)
    )
    truth, follower = truths(questions, style), Follower()
    for kind, (rule, expected) in product(MODEL_KINDS, [(all_right, 100.0), (right_on(), 0.0)]):
        model = FakeModel(answers(truth, rule, style), kind)
        with follower:
            assert await score(suite, model, grader, METRICS[0]) == expected
    check(follower, 1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("asked", "right"),
    [("output", "assert f(['a']) == list(['a', 1])"), ("input", "assert f(list(['a'])) == ['a', 1]")],
)
async def test_the_documented_files_are_those_that_a_prediction_passes(
    grader: Grader, asked: Side, right: str, style: Style
) -> None:
    """From the question to the score: of an output steps 2, 4, 5 and 7, of an input all of these but 4."""
    asker = Asker(load_prompts("runtime"), style)
    suite = PredictionSuite("runtime/t", DATA, {PREDICTED.task_id: PREDICTED}, asked, asker)
    follower = Follower()
    wrong = right.replace("['a'", "['also', 'a'")
    for kind, (answer, expected) in product(MODEL_KINDS, [(right, 1.0), (wrong, 0.0)]):
        reply = f"[THOUGHT]\nstep by step\n[/THOUGHT]\n[ANSWER]\n{answer}\n"
        model = FakeModel(lambda _, reply=reply: reply, kind)  # type: ignore[misc]
        with follower:
            assert await score(suite, model, grader, PREDICTION_METRICS[0]) == expected
    if asked == "output":
        check(follower, 2, 4, 5, 7)
    else:
        check(follower, 2, 5, 7, beside="runtime/_masked.py")  # which only names the place of an argument
