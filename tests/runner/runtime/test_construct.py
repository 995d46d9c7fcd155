"""Which inputs and statements the constructor leaves out."""

from dataclasses import replace

import pytest

from triathlon_runner.datasets import Problem
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._programs import function_program
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.sandbox import open_sandbox

LENGTHS = Problem(
    task_id="t/lengths",
    entry_point="lengths",
    prompt="",
    reference="def lengths(words):\n    sizes = [len(word) for word in words]\n    return sizes\n",
    inputs=("(['a', 'bb'],)", "([],)", "(['long'],)"),
)


def unanswered(program: str) -> ProgramQuestions:
    asked = InputQuestions(index=0, text="f(3)", arguments="(3,)", masked="", originals=(), statements=())
    return ProgramQuestions(task_id="t/f", program=program, entry_point="f", inputs=(asked,))


@pytest.mark.parametrize(
    "body",
    ["x = random.random()\n    return n + x", "x = n\n    return random.choice([x, -x, 0, 7, 8, 9])"],
)
async def test_a_result_that_hangs_on_chance_is_not_asked_for(body: str) -> None:
    """Random numbers repeat in our runs, but nobody who is asked can know which they were."""
    async with open_sandbox() as sandbox:
        programs, report = await construct([unanswered(f"import random\ndef f(n):\n    {body}\n")], sandbox)
    assert programs == ()
    assert report.left_out_inputs == {"the result differs from run to run": 1}


async def test_a_line_that_hangs_on_chance_is_not_asked_about() -> None:
    """The others of the same program are; chance with a seed of its own is none."""
    program = (
        "import random\n\ndef f(n):\n    k = n + 1\n    if k:\n        x = random.random()\n"
        "    random.seed(5)\n    if k:\n        y = random.randint(1, 99)\n    return k\n"
    )
    async with open_sandbox() as sandbox:
        programs, report = await construct([unanswered(program)], sandbox)
    asked = [one.line for one in programs[0].inputs[0].statements]
    assert asked == [4, 9, 10]
    assert report.left_out_statements["differs from run to run"] == 1


async def test_references_that_cannot_be_asked_about_are_reported() -> None:
    """How many candidates fell out, by which rule."""
    raising = replace(LENGTHS, task_id="t/raising", inputs=("(None,)", "(['a'],)"))
    plain = replace(LENGTHS, task_id="t/plain", reference="def lengths(words):\n    return 1\n")
    needs = replace(LENGTHS, task_id="t/needs", libraries=frozenset({"no_such_library"}))
    body = "    now = time.perf_counter_ns()\n    if words:\n        n = len(words)\n    return 1\n"
    clock = f"import time\ndef lengths(words):\n{body}"
    chance = replace(LENGTHS, task_id="t/chance", reference=clock, inputs=("(['a'],)",))
    odd = [function_program(one) for one in (raising, plain, needs, chance)]
    async with open_sandbox() as sandbox:
        _, report = await construct(odd, sandbox)
    assert report.left_out_inputs["the reference raises"] == 1
    assert report.left_out_inputs["no line to ask about"] == 3
    assert report.left_out_programs == {
        "t/needs": "needs no_such_library, not installed here",
        "t/plain": "no input with a question",
    }
    assert report.left_out_statements["differs from run to run"] == 1
    assert (report.programs, report.inputs) == (2, 2)
    assert report.block_ends == report.questions + sum(report.left_out_statements.values())
