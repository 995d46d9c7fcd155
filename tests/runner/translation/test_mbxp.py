"""MBXP: programs that compute nothing."""

import asyncio
import re
from pathlib import Path

import pytest

from support.case_files import sections
from support.official_data import official_store
from triathlon_runner import translation
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.translation import MbxpTask

IDLE = sections(Path(__file__).with_name("idle_programs.txt"))
RIGHT_BY_CHANCE = {587}
"""Makes a tuple of a list, which most languages do not tell apart."""
EXPECTED = r"^(?:my |var )?\$?v\d+ = (.*?);?$"


def expected_values(task: MbxpTask, language: Language) -> set[str]:
    """What a task's tests expect; Python's have no line for each value, and Ruby's are the same cases."""
    test = task.rows[Language.RUBY if language is Language.PYTHON else language].test
    return {value.strip("'\" ") for value in re.findall(EXPECTED, test, re.M)}


async def passing(
    sandbox: Sandbox, tasks: list[MbxpTask], language: Language, value: str, classes: str = ""
) -> set[int]:
    """The tasks that a function with this body passes."""
    form = IDLE[f"{language.value}: function"]
    programs = [form.format(classes=classes, name=task.name(language), value=value) for task in tasks]
    verdicts = (task.grade(text, language, sandbox) for task, text in zip(tasks, programs, strict=True))
    judged = zip(tasks, await asyncio.gather(*verdicts), strict=True)
    return {task.number for task, verdict in judged if verdict.outcome is Outcome.PASSED}


FIFTHS = [pytest.param(language, 5, marks=pytest.mark.slow) for language in Language]
"""On all tasks one language takes five minutes on two quiet cores."""


@pytest.mark.official
@pytest.mark.parametrize(("language", "every"), [(Language.PHP, 40), *FIFTHS])
async def test_idle_programs_pass_nothing(sandbox: Sandbox, language: Language, every: int) -> None:
    """Functions that return true, an object that equals everything, another constant or their argument."""
    tasks = list(translation.mbxp_tasks(official_store()))[::every]
    passed = await passing(sandbox, tasks, language, IDLE[f"{language.value}: true"])
    is_true = {"true", "1", "1.0"} if language is Language.PERL else {"true"}
    allowed = {task.number for task in tasks if expected_values(task, language) <= is_true}
    assert passed <= allowed, sorted(passed - allowed)
    equal = [IDLE[f"{language.value}: {what}"] for what in ("its object", "class that equals everything")]
    assert await passing(sandbox, tasks, language, *equal) == set()
    few = tasks[::4]
    allowed = RIGHT_BY_CHANCE | {task.number for task in few if len(expected_values(task, language)) == 1}
    for value in IDLE[f"{language.value}: constants"].split("\n"):
        passed = await passing(sandbox, few, language, value)
        assert passed <= allowed, (value, sorted(passed - allowed))
