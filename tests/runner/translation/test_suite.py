"""The chain Python, PHP, Ruby, JavaScript, Perl, Python (EVALOOOP, section 5), and how it is graded."""

from dataclasses import replace

import pytest

from support.asl import asl
from support.fake_model import FakeModel
from support.hashes import hashes
from support.official_data import official_store
from support.translations import TALLY, TASK, target_of
from triathlon_runner import loop, translation
from triathlon_runner.datasets import Comparison, core, official
from triathlon_runner.grading import Grader
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import LoopRecord, Outcome
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.suites import DataSetInfo, UnitRun


async def run(model: FakeModel, grader: Grader) -> LoopRecord:
    data = DataSetInfo("test", "1", "0" * 64)
    suite = translation.TranslationSuite("translation/test", data, load_prompts("translation"), [TASK])
    await suite.prepare(grader)
    return await suite.run(UnitRun(TASK.task_id, 0, model, grader, hashes("hash")))


@pytest.mark.parametrize("sustained", range(6))
async def test_the_first_failure_ends_the_chain(sustained: int, grader: Grader) -> None:
    """Each step translates what the one before it wrote; those in front of a failure have similarity 1."""

    def say(text: str) -> str:
        wanted = target_of(text)
        return f"```\n{TALLY[wanted]}```" if wanted in translation.TARGETS[:sustained] else "I can't."

    record = await run(FakeModel(say), grader)
    outcome = Outcome.PASSED if sustained == 5 else Outcome.NO_ANSWER
    assert (record.sustained_loops, record.max_loops, record.outcome) == (sustained, 5, outcome)
    chain = ["php", "ruby", "javascript", "perl", "python"]
    assert [step.language for step in record.loops] == chain[: sustained + 1]
    programs = [TALLY[Language.PYTHON], *(step.program for step in record.loops)]
    assert [step.prompt for step in record.loops] == programs[:-1]
    assert asl([record]) == pytest.approx((sustained**2 / 5, sustained**2 / 5))


async def test_a_base_model_is_given_the_opening(grader: Grader) -> None:
    """Behind one worked example in both languages."""
    model = FakeModel(lambda _: "    return 1;\n}\n", kind="base")
    record = await run(model, grader)
    (text,) = model.texts
    assert text.endswith("The same program in PHP:\nfunction tally($words, $least) {\n")
    assert "foreach ($words as $word)" in text
    assert record.loops[0].program == "function tally($words, $least) {\n    return 1;\n}\n"
    assert record.outcome is Outcome.FAILED


async def test_the_catalogue(sandbox: Sandbox) -> None:
    """Core has our own problems whose values cross; the metrics are those of the loop."""
    assert len(await translation.core_tasks(sandbox)) >= 20
    (problem, *_) = core.problems("seeds")
    for comparison, is_task in ((problem.comparison, True), (Comparison("set"), False)):
        found = await translation.core_task(replace(problem, comparison=comparison), sandbox)
        assert (found is not None) is is_task
    for entry in translation.catalogue():
        assert [metric.id for metric in entry.metrics] == ["asl", *(each.id for each in loop.metrics(5)[2:])]


@pytest.mark.official
def test_mbxp_is_joined_on_the_task_number() -> None:
    """966 tasks have all five languages; each has its own name and opening there."""
    store = official_store()
    tasks = translation.mbxp_tasks(store, left_out=())
    known = {row.number for language in official.MBXP_LANGUAGES for row in official.mbxp(store, language)}
    assert (len(tasks), len(known)) == (966, 974)
    (task,) = (task for task in tasks if task.number == 11)
    assert task.name(Language.PHP) == "removeOcc"
    assert {language: task.opening(language) for language in Language} == {
        Language.PHP: "function removeOcc($s, $ch){\n",
        Language.JAVASCRIPT: "function removeOcc(s, ch) {\n",
        Language.RUBY: "def remove_occ(s, ch)\n",
        Language.PERL: "sub remove_occ\n{\n  my ($s, $ch) = @_;\n",
        Language.PYTHON: "def remove_Occ(s,ch):\n",
    }
    for each in tasks:
        firsts = {language: each.opening(language).split("\n")[0] for language in Language}
        assert all(each.name(language) in first for language, first in firsts.items())
        assert not any(first.lstrip().startswith(("#", "*", "/")) for first in firsts.values())


@pytest.mark.parametrize("language", Language)
async def test_one_function_in_every_language(language: Language, sandbox: Sandbox) -> None:
    """A wrong value's verdict names the first case that differs; without the function it crashes."""
    verdict = await TASK.grade(TALLY[language], language, sandbox)
    assert (verdict.outcome, verdict.passed, verdict.total) == (Outcome.PASSED, 4, 4), verdict
    cases = (*TASK.cases[:2], (TASK.cases[2][0], "something else"), TASK.cases[3])
    verdict = await replace(TASK, cases=cases).grade(TALLY[language], language, sandbox)
    assert (verdict.outcome, verdict.passed) == (Outcome.FAILED, 2)
    assert verdict.failing is not None
    assert (verdict.failing.index, verdict.failing.input) == (2, "[], 0")
    assert verdict.failing.expected == "'something else'"
    verdict = await TASK.grade(TALLY[language].replace("tally", "other"), language, sandbox)
    assert (verdict.outcome, verdict.passed) == (Outcome.CRASHED, 0)
