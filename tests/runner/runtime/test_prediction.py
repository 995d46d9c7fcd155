"""Predictions: asked, graded and recorded, with models that answer by a rule."""

import asyncio
from pathlib import Path

import pytest

from support.case_files import listed
from support.fake_model import FakeModel
from support.hashes import hashes
from support.loop_fakes import FakeGrader
from support.official_data import official_store
from triathlon_runner import catalogue
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.grading import Grader
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._outputs import grade_prediction
from triathlon_runner.runtime._programs import Side, cruxeval_programs
from triathlon_runner.runtime._questions import Asker
from triathlon_runner.runtime._suite import PredictionSuite
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo, UnitRun

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
DATA = DataSetInfo("own", "1", "0" * 64)


@pytest.mark.parametrize(
    ("side", "assertion"), [("output", "assert f(7) == ??"), ("input", "assert f(??) == 7")]
)
async def test_how_a_prediction_is_asked(side: Side, assertion: str) -> None:
    """The question hides what is asked for; a reply without an answer keeps the name of its end."""
    suite = PredictionSuite("runtime/own", DATA, GRADED, side, Asker(load_prompts("runtime"), "cot"))
    model = FakeModel(lambda _: Reply(text="[THOUGHT]\nlet me see", finish=Finish.LENGTH))
    record = await suite.run(UnitRun("SAME", 0, model, FakeGrader(), hashes("hash")))
    assert (record.assertion, record.outcome) == (assertion, Outcome.TRUNCATED)
    ((_, how, _),) = model.asked
    assert (how.temperature, how.stop) == (0.2, ("[/ANSWER]",))
    assert f"\n\n{assertion}\n" in model.texts[0]


@pytest.mark.official
@pytest.mark.parametrize("suite_id", ["runtime/cruxeval-output", "runtime/cruxeval-input@cot"])
async def test_the_data_sets_own_answers_are_right(grader: Grader, suite_id: str) -> None:
    (entry,) = catalogue.select([suite_id])
    assert entry.default_samples == 10
    suite = entry.build(official_store())
    assert isinstance(suite, PredictionSuite) and len(suite.tasks()) == 800
    chosen = {f"sample_{number}" for number in (*range(0, 800, 10), 152, 239, 258, 344, 364, 378, 522, 770)}
    tasks = [suite.programs[name] for name in chosen]

    def say(question: str) -> str:
        """The data set's own assertion of the program that is shown."""
        shown = question.rpartition("[PYTHON]\n")[2]
        (task,) = (task for task in tasks if shown.startswith(task.program.strip("\n") + "\n\n"))
        return f"[THOUGHT]\nstep by step\n[/THOUGHT]\n[ANSWER]\nassert f({task.input}) == {task.output}\n"

    model = FakeModel(say)
    units = (suite.run(UnitRun(name, 0, model, grader, hashes("hash"))) for name in chosen)
    found = await asyncio.gather(*units)
    assert [record.task_id for record in found if record.outcome is not Outcome.PASSED] == []


@pytest.mark.official
async def test_questions_about_cruxeval(sandbox: Sandbox) -> None:
    """The constructor builds questions on CRUXEval's programs, one input each, for nearly all of a sample."""
    unanswered = cruxeval_programs(official_store())
    assert len(unanswered) == 800
    assert {len(program.inputs) for program in unanswered} == {1}
    programs, report = await construct(unanswered[::20], sandbox)
    assert report.inputs == len(programs) == len({program.task_id for program in programs})
    assert len(programs) + len(report.left_out_programs) == 40
    assert len(programs) > 20


ANSWERS = {
    **listed(Path(__file__).with_name("predictions.txt")),
    "SORTED input failed, long": [
        f"f(0x{'f' * 4_000}, 2)",
        "x0 = [1]\n" + "".join(f"x{n} = [x{n - 1}, x{n - 1}]\n" for n in range(1, 60)) + "f(x59, 2)",
    ],
}


@pytest.mark.parametrize(("heading", "answers"), ANSWERS.items(), ids=ANSWERS)
async def test_answers(sandbox: Sandbox, heading: str, answers: list[str]) -> None:
    """An output is graded by its value; any arguments of plain values that give the output are right."""
    name, asked, outcome = heading.removesuffix(", long").split(" ")
    for answer in answers:
        side: Side = "input" if asked == "input" else "output"
        judged = await grade_prediction(sandbox, GRADED[name], side, answer)
        assert (judged.outcome, bool(judged.why)) == (outcome, outcome != "passed"), answer
