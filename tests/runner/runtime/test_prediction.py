"""Predictions: asked, graded and recorded, with models that answer by a rule."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Literal

import pytest

from support.hashes import hashes
from support.loop_fakes import FakeModel
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

SORTED = CruxevalTask(
    "own_1",
    "def f(words, n):\n    return sorted(words, key=len)[:n]\n",
    "['kiwi', 'fig', 'date'], 2",
    "['fig', 'kiwi']",
)
SAME = CruxevalTask("own_2", "def f(x):\n    return x\n", "7", "7")
APPLIED = CruxevalTask("own_3", "def f(g, x):\n    return g(x)\n", "lambda n: n + 1, 4", "5")
ENDLESS = CruxevalTask("own_4", "def f(n):\n    while n:\n        pass\n    return n\n", "0", "0")
CALLED = "f(['kiwi', 'fig', 'date'], 2)"
ANSWERS: list[tuple[CruxevalTask, Side, Outcome, list[str]]] = [
    # an output is graded as the answer to an output question, by its value
    (SORTED, "output", Outcome.PASSED, [
        f"assert {CALLED} == ['fig', 'kiwi']", "['fig', 'kiwi']", "[\u2018fig\u2019, \u2018kiwi\u2019]",
    ]),
    (SORTED, "output", Outcome.FAILED, ["['kiwi', 'fig']", CALLED, f"assert {CALLED} == {CALLED}", "??"]),
    # any arguments that give the output are right, as the assertion, the call or the arguments alone
    (SORTED, "input", Outcome.PASSED, [
        f"assert {CALLED} == ['fig', 'kiwi']", "f(['kiwi', 'fig'], 9)", "['fig', 'kiwi', 'melon'], 2",
        "words=['kiwi', 'fig'], n=2", "f(*[['kiwi', 'fig'], 2])", "f(['k' + 'iwi', 'fig'], len('ab'))",
        "f(words=('fig', 'kiwi'), **{'n': 2})", f"assert ['fig', 'kiwi'] == {CALLED}",
        f"The call is\n```python\n{CALLED}\n```", f"{CALLED}\n\nTwo are left, sorted by length.",
    ]),
    (SORTED, "input", Outcome.FAILED, [
        "f(['kiwi'], 2)", "assert f([], 0) == []", "f(['fig', 'kiwi'], 2), 1) or (1",
        "assert ['fig', 'kiwi'] == ['fig', 'kiwi']", "g(1)", "no idea", f"f(0x{'f' * 4_000}, 2)",
    ]),
    (SORTED, "input", Outcome.CRASHED, ["f(3, 2)", "f()"]),
    # what is no plain value is no argument: an object that equals everything passes no assertion
    (SAME, "input", Outcome.FAILED, [
        "f(type('E', (), {'__eq__': lambda a, b: True})())", "f(__import__('unittest.mock').mock.ANY)",
        "f(f(7))", "f((y := 7))", "f([].__class__)", "f(open('/etc/passwd').read())",
    ]),
    # a function of values is an argument; one that reaches for more is none
    (APPLIED, "input", Outcome.PASSED, ["f(lambda n: n + 1, 4)", "f(lambda n: n * 5, 1)"]),
    (APPLIED, "input", Outcome.FAILED, [
        "f(lambda n: n, 4)", "f(lambda n: n.__class__, 5)", "f(lambda n: open('x'), 5)",
    ]),
    (ENDLESS, "input", Outcome.TIMED_OUT, ["f(1)"]),
]  # fmt: skip


@pytest.mark.parametrize(("task", "asked", "outcome", "answers"), ANSWERS)
async def test_answers(
    sandbox: Sandbox, task: CruxevalTask, asked: Side, outcome: Outcome, answers: list[str]
) -> None:
    for answer in answers:
        judged = await grade_prediction(sandbox, task, asked, answer)
        assert (judged.outcome, bool(judged.why)) == (outcome, outcome is not Outcome.PASSED), answer
