"""Programs that compute nothing pass only where nothing but their constant, or their input, is asked for."""

import asyncio
import re

import pytest

from support.official_data import official_store
from triathlon_runner import translation
from triathlon_runner.languages import LANGUAGES
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, open_sandbox
from triathlon_runner.translation import MbxpTask

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


async def check(language: Language, tasks: list[MbxpTask]) -> None:
    for idle, values in VALUES.items():
        passed = await passing(tasks, language, "", values[language])
        allowed = {task.number for task in tasks if may_pass(task, language, idle)}
        assert passed <= allowed, (idle, sorted(passed - allowed))
    assert await passing(tasks, language, *EQUALS_EVERYTHING[language]) == set()


@pytest.mark.official
@pytest.mark.parametrize("language", [Language.PHP])
async def test_idle_programs_pass_nothing(language: Language) -> None:
    """Functions that return true, null, 0, empty text, their input, or an object that equals everything."""
    await check(language, list(translation.mbxp_tasks(official_store()))[::40])


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.parametrize("language", Language)
async def test_idle_programs_pass_nothing_of_a_fifth_of_the_data_set(language: Language) -> None:
    """The same on every fifth task: on all of them one language takes five minutes on two quiet cores."""
    await check(language, list(translation.mbxp_tasks(official_store()))[::5])
