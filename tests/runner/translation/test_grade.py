"""Executing translations, each in its language, with values that cross as JSON."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from support.translations import TALLY, TASK
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, Sandbox, open_sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(jobs=2) as opened:
        yield opened


@pytest.mark.parametrize("language", Language)
async def test_a_right_program_passes_in_every_language(language: Language, sandbox: Sandbox) -> None:
    """The same cases hold for the same function in all five languages."""
    verdict = await TASK.grade(TALLY[language], language, sandbox)
    assert (verdict.outcome, verdict.passed, verdict.total) == (Outcome.PASSED, 4, 4), verdict


@pytest.mark.parametrize("language", Language)
async def test_a_wrong_value_fails_with_its_case(language: Language, sandbox: Sandbox) -> None:
    """The verdict names the first case that differs, what was expected and what came."""
    cases = (*TASK.cases[:2], (TASK.cases[2][0], "something else"), TASK.cases[3])
    verdict = await replace(TASK, cases=cases).grade(TALLY[language], language, sandbox)
    assert (verdict.outcome, verdict.passed) == (Outcome.FAILED, 2)
    assert verdict.failing is not None
    assert (verdict.failing.index, verdict.failing.input) == (2, "[], 0")
    assert verdict.failing.expected == "'something else'"


@pytest.mark.parametrize(
    ("language", "program"),
    [
        (Language.PYTHON, "def tally(words, least)\n    return 1\n"),
        (Language.PHP, "<?php function tally($words, $least) { return 1"),
        (Language.RUBY, "def tally(words, least)\n  1\n"),
        (Language.JAVASCRIPT, "function tally(words, least) { return 1"),
        (Language.PERL, "sub tally { return 1"),
        (Language.PHP, "<?php function other() {}"),
        (Language.RUBY, "raise 'at once'"),
        (Language.JAVASCRIPT, "function tally() { throw new Error('never') }"),
        (Language.PERL, "sub tally { exit 0 }"),
    ],
)
async def test_programs_that_break_crash(language: Language, program: str, sandbox: Sandbox) -> None:
    """A syntax error, a missing function, an exception or an early exit is a crash that says why."""
    verdict = await TASK.grade(program, language, sandbox)
    assert (verdict.outcome, verdict.passed) == (Outcome.CRASHED, 0)
    assert verdict.detail or (verdict.failing and verdict.failing.got)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "program"),
    [
        (Language.PHP, "<?php function tally() { while (true) {} }"),
        (Language.RUBY, "def tally(a, b)\n  loop {}\nend"),
        (Language.JAVASCRIPT, "function tally() { for (;;) {} }"),
        (Language.PERL, "sub tally { 1 while 1 }"),
    ],
)
async def test_programs_that_never_end_time_out(language: Language, program: str, sandbox: Sandbox) -> None:
    """CPU time ends them, whatever the language."""
    assert (await TASK.grade(program, language, sandbox)).outcome is Outcome.TIMED_OUT


@pytest.mark.parametrize("expected", [1, 1.5, "1", [1.5], {"a": 1}, None, True])
@pytest.mark.parametrize("value", ["10**400", "-10**400", "10**5000", "[10**5000]", "{10**5000: 10**5000}"])
async def test_numbers_that_nobody_can_write_fail(expected: Any, value: str, sandbox: Sandbox) -> None:
    """An int beyond every float, or longer than Python writes, is a wrong value like any other."""
    task = replace(TASK, cases=(((["a"], 1), expected),))
    verdict = await task.grade(f"def tally(words, least):\n    return {value}\n", Language.PYTHON, sandbox)
    assert (verdict.outcome, verdict.passed) == (Outcome.FAILED, 0)
    assert verdict.failing is not None and verdict.failing.got
