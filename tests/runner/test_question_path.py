"""docs/architecture.md names the files that a question about a program passes on its way to a score."""

import ast
import sys
from collections.abc import AsyncIterator
from itertools import product
from typing import Final, get_args

import pytest

from support.built_questions import source
from support.code_path import Follower, documented_path, documented_steps
from support.fake_model import FakeModel
from support.hashes import hashes
from support.runtime_models import answers, right_on, truths
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.llm import Answer, Chat, Completion, ModelKind
from triathlon_runner.metrics import Contribution
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import AnswerRecord, Reply, StatementRecord, UnitRecord
from triathlon_runner.runtime import (
    METRICS,
    Graded,
    InputQuestions,
    ProgramQuestions,
    RuntimeSuite,
    StatementQuestion,
    Value,
)
from triathlon_runner.runtime._assertions import Filled
from triathlon_runner.runtime._construct import QuestionSource
from triathlon_runner.runtime._masked import Masked
from triathlon_runner.runtime._metrics import PREDICTION_METRICS
from triathlon_runner.runtime._programs import Side
from triathlon_runner.runtime._questions import STYLES, Asker, QuestionKind, Style
from triathlon_runner.runtime._sandboxed import programs
from triathlon_runner.runtime._suite import PredictionSuite
from triathlon_runner.sandbox import Execution, Job, Returned, Sent, open_sandbox
from triathlon_runner.sandbox._worker import ChildEnd
from triathlon_runner.suites import DataSetInfo, UnitRun

STAGES = (
    ProgramQuestions, InputQuestions, StatementQuestion, CruxevalTask, Chat, Completion, Reply, Answer,
    Value, Masked, Filled, ast.AST, Job, Execution, Returned, Sent, ChildEnd, Graded, AnswerRecord,
    StatementRecord, UnitRecord, Contribution,
)  # fmt: skip
"""What a question, its answer or its truth is at each stage; between them it is text with the mark."""
MARKS: Final = ("marked", "apple", "nut")
MODEL_KINDS: Final[tuple[ModelKind, ...]] = get_args(ModelKind)
SANDBOX: Final = {
    file
    for file in documented_path("The path of one program", "The path of one question")
    if file.startswith("sandbox/") and "_inside" not in file and "_pipes" not in file
}
"""The files that executing an assertion (step 5) adds; what is in `_inside` works in a process that cannot be
followed, and `_pipes.py` is handed no answer but frames of bytes."""


def documented(*steps: int) -> set[str]:
    """The files that the document names in these steps, and those of the sandbox."""
    files = documented_steps("The path of one question", "Programs never run")
    return SANDBOX.union(*(files[step - 1] for step in steps))


PREDICTED = CruxevalTask("t/own", "def f(marked):\n    return [*marked, 1]\n", "['marked']", "['marked', 1]")
DATA = DataSetInfo("t", "1", "0" * 64)


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


def rightly(kind: QuestionKind, truth: str) -> str:
    """A right answer that has the mark where it can, with a value that has to be computed."""
    return f"{truth}, as marked" if kind == "coverage" else truth.replace("{'nut'}", "set(['nut'])")


@pytest.mark.parametrize("style", STYLES)
async def test_the_documented_files_are_those_that_a_question_passes(grader: Grader, style: Style) -> None:
    """From the question to the score, of all four kinds: steps 1 to 6."""
    async with open_sandbox(jobs=1) as sandbox:
        questions = await source().build(sandbox)
    suite = RuntimeSuite(
        "runtime/t", Asker(load_prompts("runtime"), style), QuestionSource(DATA, (), file=questions)
    )
    follower = Follower(STAGES, MARKS, look_into=(list, tuple))
    for model_kind, (rule, score) in product(MODEL_KINDS, [(rightly, 100.0), (right_on(), 0.0)]):
        model = FakeModel(answers(truths(questions, style), rule, style), model_kind)
        with follower:
            records = [
                await suite.run(UnitRun(task.task_id, 0, model, grader, hashes("p")))
                for task in suite.tasks()
            ]
            scores = [metric.score(records) for metric in METRICS]
        assert scores[0] == score
    assert follower.files == documented(1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ("output", "assert f(['marked']) == list(['marked', 1])"),
        ("input", "assert f(list(['marked'])) == ['marked', 1]"),
    ],
)
async def test_the_documented_files_are_those_that_a_prediction_passes(
    grader: Grader, asked: Side, right: str, style: Style
) -> None:
    """From the question to the score: of an output steps 2, 4, 5 and 7, of an input all of these but 4."""
    asker = Asker(load_prompts("runtime"), style)
    suite = PredictionSuite("runtime/t", DATA, {PREDICTED.task_id: PREDICTED}, asked, asker)
    follower = Follower(STAGES, MARKS, look_into=(list, tuple))
    wrong = right.replace("['marked'", "['also', 'marked'")
    for model_kind, (answer, score) in product(MODEL_KINDS, [(right, 1.0), (wrong, 0.0)]):
        reply = f"[THOUGHT]\nstep by step\n[/THOUGHT]\n[ANSWER]\n{answer}\n"
        model = FakeModel(lambda _, reply=reply: reply, model_kind)  # type: ignore[misc]
        with follower:
            record = await suite.run(UnitRun(PREDICTED.task_id, 0, model, grader, hashes("p")))
            scores = [metric.score([record]) for metric in PREDICTION_METRICS]
        assert scores[0] == score
    assert follower.files == documented(*((2, 4, 5, 7) if asked == "output" else (2, 5, 7)))
