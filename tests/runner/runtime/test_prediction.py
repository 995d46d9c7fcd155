"""Predictions: asked, graded and recorded, with models that answer by a rule."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import pytest

from support.case_files import listed
from support.fake_model import FakeModel
from support.hashes import hashes
from support.official_data import official_store
from triathlon_runner import catalogue
from triathlon_runner.datasets import DataStore
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.grading import Grader
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, Outcome, PredictionRecord, Reply
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._metrics import PREDICTION_METRICS as METRICS
from triathlon_runner.runtime._outputs import grade_prediction
from triathlon_runner.runtime._programs import Side, cruxeval_programs, masked_assertion
from triathlon_runner.runtime._questions import Asker
from triathlon_runner.runtime._suite import PredictionSuite
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo, UnitRun

TASKS = (
    CruxevalTask("own_1", "def f(n):\n    return n * '?'\n", "2", "'??'"),
    CruxevalTask("own_2", "def f(a, b=1):\n    return {a: b}\n", "'k', b=3", "{'k': 3}"),
    CruxevalTask("own_3", "def f():\n    return (1,)\n", "", "(1,)"),
)
DATA = DataSetInfo("own", "1", "0" * 64)


def suite(asked: Side = "output", style: Literal["direct", "cot"] = "direct") -> PredictionSuite:
    programs = {task.task_id: task for task in TASKS}
    return PredictionSuite("runtime/own", DATA, programs, asked, Asker(load_prompts("runtime"), style))


def right(tasks: dict[str, CruxevalTask]) -> Callable[[str], str]:
    """The data set's own assertion of the program that is shown."""

    def rule(shown: str) -> str:
        (task,) = (
            task
            for task in tasks.values()
            if shown.rpartition("[PYTHON]\n")[2].startswith(task.program.strip("\n") + "\n\n")
        )
        return f"[THOUGHT]\nstep by step\n[/THOUGHT]\n[ANSWER]\nassert f({task.input}) == {task.output}\n"

    return rule


async def records(
    one: PredictionSuite, model: FakeModel, grader: Grader, tasks: Iterable[str] = ()
) -> list[PredictionRecord]:
    names = tasks or [task.task_id for task in one.tasks()]
    return await asyncio.gather(*(one.run(UnitRun(name, 0, model, grader, hashes("hash"))) for name in names))


async def test_wrong_and_missing_answers(grader: Grader) -> None:
    """Wrong answers score 0, and a reply without an answer keeps the name of its end."""
    wrong = FakeModel(lambda _: "[ANSWER]\nassert f(2) == 'no'\n")
    assert METRICS[0].score(await records(suite(), wrong, grader)) == 0.0
    assert {(how.temperature, how.stop) for _, how, _ in wrong.asked} == {(0.2, ("[/ANSWER]",))}
    thinking = FakeModel(lambda _: Reply(text="[THOUGHT]\nlet me see", finish=Finish.LENGTH))
    cut = await records(suite(style="cot"), thinking, grader)
    assert {record.outcome for record in cut} == {Outcome.TRUNCATED}


def test_the_question_hides_what_is_asked_for() -> None:
    assert masked_assertion(TASKS[0], "output") == "assert f(2) == ??"
    assert masked_assertion(TASKS[0], "input") == "assert f(??) == '??'"
    assert suite("output").protocol != suite("input").protocol


def official(suite_id: str, store: DataStore) -> PredictionSuite:
    (entry,) = catalogue.select([suite_id])
    built = entry.build(store)
    assert isinstance(built, PredictionSuite)
    assert entry.default_samples == 10
    return built


@pytest.mark.official
@pytest.mark.parametrize("suite_id", ["runtime/cruxeval-output", "runtime/cruxeval-input@cot"])
async def test_the_data_sets_own_answers_are_right(grader: Grader, suite_id: str) -> None:
    one = official(suite_id, official_store())
    assert len(one.tasks()) == 800
    chosen = {f"sample_{number}" for number in (*range(0, 800, 10), 152, 239, 258, 344, 364, 378, 522, 770)}
    tasks = {name: task for name, task in one.programs.items() if name in chosen}
    found = await records(one, FakeModel(right(tasks)), grader, tasks)
    assert [record.task_id for record in found if record.outcome is not Outcome.PASSED] == []


@pytest.mark.official
async def test_questions_about_cruxeval(grader: Grader) -> None:
    """The constructor builds questions on CRUXEval's programs, one input each, for nearly all of a sample."""
    unanswered = cruxeval_programs(official_store())
    assert len(unanswered) == 800
    assert {len(program.inputs) for program in unanswered} == {1}
    programs, report = await construct(unanswered[::20], grader.sandbox)
    assert report.inputs == len(programs) == len({program.task_id for program in programs})
    assert len(programs) + len(report.left_out_programs) == 40
    assert len(programs) > 20


# Grading

GRADED = {
    "SORTED": CruxevalTask(
        "own_1",
        "def f(words, n):\n    return sorted(words, key=len)[:n]\n",
        "['kiwi', 'fig', 'date'], 2",
        "['fig', 'kiwi']",
    ),
    "SAME": CruxevalTask("own_2", "def f(x):\n    return x\n", "7", "7"),
    "APPLIED": CruxevalTask("own_3", "def f(g, x):\n    return g(x)\n", "lambda n: n + 1, 4", "5"),
    "ENDLESS": CruxevalTask("own_4", "def f(n):\n    while n:\n        pass\n    return n\n", "0", "0"),
}
ANSWERS = {
    **listed(Path(__file__).with_name("predictions.txt")),
    "SORTED input failed, long": [f"f(0x{'f' * 4_000}, 2)"],
}


@pytest.mark.parametrize(("heading", "answers"), ANSWERS.items(), ids=ANSWERS)
async def test_answers(sandbox: Sandbox, heading: str, answers: list[str]) -> None:
    """An output is graded by its value; any arguments that give the output are right.

    What is no plain value, or no function of such, is no argument.
    """
    name, asked, outcome = heading.removesuffix(", long").split(" ")
    for answer in answers:
        side: Side = "input" if asked == "input" else "output"
        judged = await grade_prediction(sandbox, GRADED[name], side, answer)
        assert (judged.outcome, bool(judged.why)) == (outcome, outcome != "passed"), answer
