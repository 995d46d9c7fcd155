"""MBXP: what docs/data.md says of its references, and programs that compute nothing."""

import asyncio
import re
from pathlib import Path

import pytest

from support.official_data import official_store
from triathlon_runner import translation
from triathlon_runner.languages import LANGUAGES
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, open_sandbox
from triathlon_runner.translation import LanguageCheck, MbxpTask

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


FUNCTIONS = {
    Language.PYTHON: "{classes}\ndef {name}(*a):\n    return {value}\n",
    Language.PHP: "<?php {classes} function {name}(...$a) {{ return {value}; }}",
    Language.RUBY: "{classes}\ndef {name}(*a)\n  {value}\nend\n",
    Language.JAVASCRIPT: "{classes} function {name}(...a) {{ return {value}; }}",
    Language.PERL: "{classes} sub {name} {{ my @a = @_; return {value}; }}",
}
EQUALS_EVERYTHING = {
    Language.PYTHON: (
        "class E(list):\n    __hash__ = None\n    def __eq__(self, other): return True\n"
        "    def __ne__(self, other): return False",
        "E([object()])",
    ),
    Language.PHP: ("class E { function __toString() { return ''; } }", "new E"),
    Language.RUBY: (
        "class E\n  def ==(other) true end\n  def !=(other) false end\n  def coerce(o) [self, self] end\nend",
        "E.new",
    ),
    Language.JAVASCRIPT: ("class E { valueOf() { return 1; } }", "new E()"),
    Language.PERL: (
        "package E; use overload 'eq' => sub { 1 }, '==' => sub { 1 }, '\"\"' => sub { '' }; package main;",
        "bless([], 'E')",
    ),
}
FIRST_INPUT = "a[0]"
VALUES: dict[str, dict[Language, str]] = {
    "true": dict.fromkeys(Language, "true") | {Language.PYTHON: "True", Language.PERL: "1"},
    "null": dict.fromkeys(Language, "null")
    | {Language.PYTHON: "None", Language.RUBY: "nil", Language.PERL: "undef"},
    "zero": dict.fromkeys(Language, "0"),
    "empty text": dict.fromkeys(Language, '""'),
    "its input": dict.fromkeys(Language, FIRST_INPUT)
    | {Language.PHP: "$a[0] ?? null", Language.PERL: "$a[0]", Language.JAVASCRIPT: "a[0] ?? null"},
}
UNORDERED = {698}
"""It asks for the dictionary that it is given, sorted: dictionaries are equal in any order."""
EXPECTED = r"^(?:my |var )?\$?v(\d+) = (.*?);?$"
FIRST_ARGUMENT = r"^(?:my |var )?\$?arg(\d+)0 = (.*?);?$"
SAME_VALUE = {"True": "true", "None": "null", "nil": "null", "undef": "null", "0.0": "0", "-0.0": "0"}


def normal(text: str) -> str:
    """One spelling for values that are equal, as far as the data sets write them."""
    text = text.strip().replace("'", '"')
    return SAME_VALUE.get(text, re.sub(r"\b(\d+)\.0\b", r"\1", text))


def may_pass(task: MbxpTask, language: Language, idle: str) -> bool:
    """Whether all that a task's tests expect is this constant, or the first argument."""
    test = task.rows[language].test
    if language is Language.PYTHON:
        test = task.rows[Language.RUBY].test  # the same cases, a line for each value
    if not LANGUAGES[language].has_number_type:  # 33 and "33" are the same
        test = re.sub(r"""["'](-?\d+)["']""", r"\1", test)
    expected = {index: normal(text) for index, text in re.findall(EXPECTED, test, re.M)}
    if idle == "its input":
        given = {index: normal(text) for index, text in re.findall(FIRST_ARGUMENT, test, re.M)}
        return task.number in UNORDERED or all(given.get(index) == text for index, text in expected.items())
    wanted = {normal(VALUES[idle][language]), normal(VALUES[idle][Language.RUBY])}
    return set(expected.values()) <= wanted


async def passing(tasks: list[MbxpTask], language: Language, classes: str, value: str) -> set[int]:
    """The tasks that a function with this body passes."""
    async with open_sandbox(jobs=2) as sandbox:

        async def grade(task: MbxpTask) -> bool:
            program = FUNCTIONS[language].format(classes=classes, name=task.name(language), value=value)
            return (await task.grade(program, language, sandbox)).outcome is Outcome.PASSED

        outcomes = await asyncio.gather(*map(grade, tasks))
    return {task.number for task, passed in zip(tasks, outcomes, strict=True) if passed}


FIFTHS = [pytest.param(language, 5, marks=pytest.mark.slow) for language in Language]
"""On all tasks one language takes five minutes on two quiet cores."""


@pytest.mark.official
@pytest.mark.parametrize(("language", "every"), [(Language.PHP, 40), *FIFTHS])
async def test_idle_programs_pass_nothing(language: Language, every: int) -> None:
    """Functions that return true, null, 0, empty text, their input, or an object that equals everything."""
    tasks = list(translation.mbxp_tasks(official_store()))[::every]
    for idle, values in VALUES.items():
        passed = await passing(tasks, language, "", values[language])
        allowed = {task.number for task in tasks if may_pass(task, language, idle)}
        assert passed <= allowed, (idle, sorted(passed - allowed))
    assert await passing(tasks, language, *EQUALS_EVERYTHING[language]) == set()
