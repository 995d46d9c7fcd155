"""MBXP: what docs/data.md says of its references, and programs that compute nothing."""

import asyncio
import re
from pathlib import Path

import pytest

from support.case_files import sections
from support.official_data import official_store
from triathlon_runner import translation
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, Sandbox
from triathlon_runner.translation import LanguageCheck, MbxpTask

DATA_PAGE = (Path(__file__).parents[3] / "docs" / "data.md").read_text(encoding="utf-8")


def test_the_report_names_chains_without_a_beginning() -> None:
    """One line a language, and the tasks whose Python program is wrong from the start."""
    checks: dict[Language, LanguageCheck] = {Language.PYTHON: (3, (56,)), Language.PERL: (0, ())}
    assert list(translation.report([], checks, {7: (Language.RUBY, Language.PERL)})) == [
        "0 tasks have all 5 languages; 1 others do not",
        "  7 lacks Ruby, Perl",
        "language      references  passing",
        "Python                 3        2",
        "  without a correct Python program: 56",
        "Perl                   0        0",
    ]


@pytest.mark.official
@pytest.mark.slow
async def test_the_page_states_what_the_check_finds(sandbox: Sandbox) -> None:
    """Tasks, usable tasks, and references that pass in each language, as executed here."""
    tasks, _ = translation.read_mbxp(official_store())
    usable = {task.number for task in translation.mbxp_tasks(official_store())}
    checks = [await translation.check_references(tasks, sandbox, language) for language in Language]
    assert set(checks[0][1]) == {task.number for task in tasks} - usable and len(usable) == 957
    assert checks[-1] == (0, ())  # Perl has none to execute
    stated = [f"{len(usable)} MBXP tasks", f"of {len(tasks)} that all five languages have"]
    for title, (count, failing) in zip(("PHP", "Ruby", "JavaScript"), checks[1:], strict=False):
        stated.append(f"{count - len(failing)} of {count}( tasks)? in {title}")
    text = " ".join(DATA_PAGE.split())
    assert not [one for one in stated if not re.search(one, text)]


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
