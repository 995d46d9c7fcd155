"""Whose references pass: what docs/data.md says of MBXP can be checked by anyone."""

import re
from pathlib import Path

import pytest

from support.official_data import official_store
from triathlon_runner import translation
from triathlon_runner.sandbox import Language, open_sandbox
from triathlon_runner.translation import LanguageCheck

DATA_PAGE = (Path(__file__).parents[3] / "docs" / "data.md").read_text(encoding="utf-8")
CHECKS = (
    LanguageCheck(Language.PYTHON, 3, 2, (56,)),
    LanguageCheck(Language.PERL, 0, 0, ()),
)
LACKING = {7: (Language.RUBY, Language.PERL)}


@pytest.mark.official
async def test_references_are_executed_with_their_own_tests() -> None:
    """Task 56's Python reference fails its tests, 11's pass; Perl has none to execute."""
    tasks = [task for task in translation.joined(official_store()) if task.number in (11, 56)]
    languages = (Language.PYTHON, Language.RUBY, Language.PERL)
    async with open_sandbox(jobs=2) as sandbox:
        python, ruby, perl = await translation.check_references(tasks, sandbox, languages)
    assert (python.with_reference, python.passing, python.failing) == (2, 1, (56,))
    assert 11 not in ruby.failing
    assert (perl.with_reference, perl.passing) == (0, 0)


def test_the_report_names_chains_without_a_beginning() -> None:
    """One line a language, and the tasks whose Python program is wrong from the start."""
    lines = list(translation.report([], CHECKS, LACKING))
    assert lines == [
        "0 tasks have all 5 languages; 1 others do not",
        "  7 lacks Ruby, Perl",
        "language      references  passing",
        "Python                 3        2",
        "  without a correct Python program: 56",
        "Perl                   0        0",
    ]


@pytest.mark.official
def test_every_task_has_all_languages_or_lacks_some() -> None:
    """974 numbers in all; those that lack a language are named with it."""
    store = official_store()
    complete, lacking = translation.joined(store), translation.incomplete(store)
    assert len(complete) + len(lacking) == 974
    assert not lacking.keys() & {task.number for task in complete}
    assert all(lacking.values())


@pytest.mark.official
@pytest.mark.slow
async def test_the_readme_states_what_the_check_finds() -> None:
    """Tasks, usable tasks, and references that pass in each language, as executed here."""
    tasks = translation.joined(official_store())
    async with open_sandbox() as sandbox:
        checks = await translation.check_references(tasks, sandbox)
    by_language = {check.language: check for check in checks}
    usable = len(translation.mbxp_tasks(official_store()))
    assert by_language[Language.PYTHON].passing == usable
    stated = [f"{usable} MBXP tasks", f"of {len(tasks)} that all five languages have"]
    for title, language in (
        ("PHP", Language.PHP),
        ("Ruby", Language.RUBY),
        ("JavaScript", Language.JAVASCRIPT),
    ):
        found = by_language[language]
        stated.append(f"{found.passing} of {found.with_reference}( tasks)? in {title}")
    text = " ".join(DATA_PAGE.split())
    assert not [one for one in stated if not re.search(one, text)]
