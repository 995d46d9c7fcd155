"""The mutation engine and the rules around it."""

from dataclasses import replace

import pytest

import core_checks as checks
from core_checks._mutants import mutants
from triathlon_runner.datasets import core
from triathlon_runner.sandbox import open_sandbox

PROGRAM = """
def clip(number: int, top: int) -> int:
    if number > top:
        return top
    return number
"""


def test_every_kind_of_small_change_is_made() -> None:
    """Comparisons, conditions and removed statements each give a mutant; annotations give none."""
    names = {mutant.name for mutant in mutants(PROGRAM)}
    assert names == {
        "if number > top: => if number >= top:",
        "if number > top: => if number <= top:",
        "if number > top: => if True:",
        "if number > top: => if False:",
        "return top => pass",
        "return number => pass",
    }


def test_mutants_differ_and_parse() -> None:
    """No mutant is the program itself, none stands twice, all are programs."""
    problem = core.problems("seeds")[0]
    sources = [mutant.source for mutant in mutants(problem.reference)]
    assert len(set(sources)) == len(sources) > 3
    assert all(compile(source, "mutant", "exec") for source in sources)


async def test_a_weak_test_is_seen() -> None:
    """With a single input, mutants survive and wrong solutions pass, and both are reported."""
    sound = checks.detail("core/seeds/sum-above")
    weak = replace(
        sound,
        problem=replace(sound.problem, inputs=("([5, 12], 8)",)),
        input_names=("only one",),
    )
    async with open_sandbox() as sandbox:
        report = await checks.check_problem(sandbox, weak)
    assert "the wrong solution passes: takes the limit itself along" in report.findings
    assert report.survivors


async def test_a_false_example_is_seen() -> None:
    """An example that the reference contradicts is reported."""
    sound = checks.detail("core/seeds/sum-above")
    prompt = sound.problem.prompt.replace("    32\n", "    33\n")
    assert prompt != sound.problem.prompt
    false = replace(sound, problem=replace(sound.problem, prompt=prompt))
    async with open_sandbox() as sandbox:
        report = await checks.check_problem(sandbox, false)
    assert [finding for finding in report.findings if "shows 33" in finding]


@pytest.mark.parametrize("text", ["one two three four five six seven eight nine"])
def test_shared_runs_are_found(text: str) -> None:
    """Eight words in a row are found, whatever stands around them and whatever their case; seven are none."""
    assert checks.shared_runs(text, ["... One, two three FOUR five six seven eight!"]) == {
        "one two three four five six seven eight"
    }
    assert not checks.shared_runs(text, ["two three four five six seven eight one"])
