"""Programs in other languages keep the same contract."""

import math
from pathlib import Path

import pytest

from support.case_files import sections
from triathlon_runner.languages import LANGUAGES
from triathlon_runner.sandbox import Call, Ended, Job, Language, Limits, Raised, Returned, Sandbox

INTERPRETED = [language for language, spec in LANGUAGES.items() if spec.command]
PHP, RUBY, JAVASCRIPT, PERL = INTERPRETED
pytestmark = pytest.mark.asyncio(loop_scope="module")
F = (Call("f", ()),)

TEXTS = {
    heading: f"{text}\n" for heading, text in sections(Path(__file__).with_name("languages.txt")).items()
}


def text_of(language: Language, what: str) -> str:
    """A program or test of the file."""
    return TEXTS[f"{language.value}: {what}"]


@pytest.mark.parametrize("language", INTERPRETED)
async def test_the_contract(sandbox: Sandbox, language: Language) -> None:
    """Values, exceptions with their line, output; a program that does not parse; a loop; nothing in reach."""
    calls = (Call("f", (1,)), Call("f", (0,)), Call("missing", ()))
    execution = await sandbox.run(Job(text_of(language, "values"), calls, language))
    value, fault, missing = execution.results
    assert value == Returned([2, "a", None, 1.5, 1 if language is PERL else True])
    assert isinstance(fault, Raised) and "no" in fault.message and fault.line == 4
    assert isinstance(missing, Raised)
    assert (execution.ended, execution.stdout) == (Ended.FINISHED, "hihi")
    unparsed = await sandbox.run(Job(f"{text_of(language, 'loop')} (((", F, language))
    endless = await sandbox.run(Job(text_of(language, "loop"), F, language, Limits(cpu_seconds=0.5)))
    assert (unparsed.ended, endless.ended) == (Ended.NOT_LOADED, Ended.TIMED_OUT)
    (found,) = (await sandbox.run(Job(text_of(language, "reaches"), F, language))).results
    assert isinstance(found, Returned) and all(item in (None, False) for item in found.value)


async def shown(sandbox: Sandbox, program: str, language: Language, argument: object) -> list[str]:
    execution = await sandbox.run(Job(program, (Call("f", (argument,)),), language))
    return [repr(result.value) for result in execution.results if isinstance(result, Returned)]


@pytest.mark.parametrize("language", INTERPRETED)
async def test_maps_and_special_numbers_cross(sandbox: Sandbox, language: Language) -> None:
    """Maps, and numbers that JSON has no form for, go in and out as what they are; text stays text."""
    for heading, program in TEXTS.items():
        if heading.startswith(f"{language.value}: map"):
            assert await shown(sandbox, program, language, {"m": [5]}) == ["{'k': [5], 'n': nan}"]
    for number in (-math.inf, math.nan):
        expected = f"[{number}, inf, -inf, nan, 'inf']"
        assert await shown(sandbox, text_of(language, "special numbers"), language, number) == [expected]


@pytest.mark.parametrize("language", INTERPRETED)
async def test_chance_starts_the_same(sandbox: Sandbox, language: Language) -> None:
    """Random numbers, and the order of Perl's hashes: else a verdict could not be verified."""
    first, second = [await shown(sandbox, text_of(language, "chance"), language, None) for _ in range(2)]
    assert first and first == second


@pytest.mark.parametrize("heading", [heading for heading in TEXTS if "whole file" in heading])
async def test_what_programs_begin_and_end_with(sandbox: Sandbox, heading: str) -> None:
    """Declarations that have to stand first, what is behind a closing tag or an end mark, exports."""
    assert await shown(sandbox, TEXTS[heading], Language(heading.partition(":")[0]), 1) == ["2"]


@pytest.mark.parametrize("language", INTERPRETED)
async def test_scripts_judge_from_outside(sandbox: Sandbox, language: Language) -> None:
    examiner = Job(text_of(language, "tests"), (), language, relayed=("f",))
    for program, ended in (("values", Ended.FINISHED), ("wrong", Ended.NOT_LOADED)):
        run = await sandbox.examine(examiner, Job(text_of(language, program), (), language))
        assert run.examiner.ended is ended, run


@pytest.mark.parametrize("language", [RUBY, PHP, JAVASCRIPT])
async def test_relayed_values_stay(sandbox: Sandbox, language: Language) -> None:
    """Keys of all kinds in Ruby, integers as keys in PHP, -0 and large numbers in JavaScript."""
    program, tests = text_of(language, "returns"), text_of(language, "compares")
    assert (await sandbox.run(Job(f"{program}\n{tests}", (), language))).ended is Ended.FINISHED
    run = await sandbox.examine(Job(tests, (), language, relayed=("f",)), Job(program, (), language))
    assert run.examiner.ended is Ended.FINISHED, run


@pytest.mark.parametrize("heading", [heading for heading in TEXTS if heading.startswith("ruby: key,")])
async def test_a_map_equals_only_one_with_its_keys(sandbox: Sandbox, heading: str) -> None:
    """No text and no object of the program's own passes for a key that is a list."""
    examiner = Job("raise 'wrong' unless f(1) == {[1, 2] => 1}\n", (), RUBY, relayed=("f",))
    run = await sandbox.examine(examiner, Job(TEXTS[heading], (), RUBY))
    assert run.examiner.ended is Ended.NOT_LOADED
