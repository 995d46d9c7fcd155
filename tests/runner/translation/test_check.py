"""Whose references pass: what docs/data.md says of MBXP can be checked by anyone."""

import re
from pathlib import Path

import pytest

from support.official_data import official_store
from triathlon_runner import translation
from triathlon_runner.sandbox import Language, open_sandbox
from triathlon_runner.translation import LanguageCheck

DATA_PAGE = (Path(__file__).parents[3] / "docs" / "data.md").read_text(encoding="utf-8")


@pytest.mark.official
async def test_references_are_executed_with_their_own_tests() -> None:
    """Task 56's Python reference fails its tests, 11's pass; Perl has none to execute."""
    tasks = [task for task in translation.read_mbxp(official_store())[0] if task.number in (11, 56)]
    async with open_sandbox(jobs=2) as sandbox:
        python, ruby, perl = [
            await translation.check_references(tasks, sandbox, language)
            for language in (Language.PYTHON, Language.RUBY, Language.PERL)
        ]
    assert (python.with_reference, python.passing, python.failing) == (2, 1, (56,))
    assert 11 not in ruby.failing
    assert (perl.with_reference, perl.passing) == (0, 0)


def test_the_report_names_chains_without_a_beginning() -> None:
    """One line a language, and the tasks whose Python program is wrong from the start."""
    checks = (LanguageCheck(Language.PYTHON, 3, (56,)), LanguageCheck(Language.PERL, 0, ()))
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
async def test_the_page_states_what_the_check_finds() -> None:
    """Tasks, usable tasks, and references that pass in each language, as executed here."""
    tasks, _ = translation.read_mbxp(official_store())
    usable = {task.number for task in translation.mbxp_tasks(official_store())}
    async with open_sandbox() as sandbox:
        checks = [await translation.check_references(tasks, sandbox, language) for language in Language]
    assert set(checks[0].failing) == {task.number for task in tasks} - usable and len(usable) == 957
    stated = [f"{len(usable)} MBXP tasks", f"of {len(tasks)} that all five languages have"]
    for title, check in zip(("PHP", "Ruby", "JavaScript"), checks[1:], strict=False):
        stated.append(f"{check.passing} of {check.with_reference}( tasks)? in {title}")
    text = " ".join(DATA_PAGE.split())
    assert not [one for one in stated if not re.search(one, text)]
