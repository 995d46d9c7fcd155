"""Which inputs and statements the constructor leaves out."""

import pytest

from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._programs import Candidate, Subject
from triathlon_runner.runtime._trace import FunctionRun
from triathlon_runner.sandbox import open_sandbox


def subject(program: str) -> Subject:
    return Subject("t/f", program, "f", (Candidate(0, FunctionRun("f", "(3,)"), "f(3)"),))


@pytest.mark.parametrize(
    "body",
    ["x = random.random()\n    return n + x", "x = n\n    return random.choice([x, -x, 0, 7, 8, 9])"],
)
async def test_a_result_that_hangs_on_chance_is_not_asked_for(body: str) -> None:
    """Random numbers repeat in our runs, but nobody who is asked can know which they were."""
    async with open_sandbox() as sandbox:
        programs, report = await construct([subject(f"import random\ndef f(n):\n    {body}\n")], sandbox)
    assert programs == ()
    assert report.left_out_inputs == {"the result differs from run to run": 1}


async def test_a_line_that_hangs_on_chance_is_not_asked_about() -> None:
    """The others of the same program are; chance with a seed of its own is none."""
    program = (
        "import random\n\ndef f(n):\n    k = n + 1\n    if k:\n        x = random.random()\n"
        "    random.seed(5)\n    if k:\n        y = random.randint(1, 99)\n    return k\n"
    )
    async with open_sandbox() as sandbox:
        programs, report = await construct([subject(program)], sandbox)
    asked = [one.line for one in programs[0].inputs[0].statements]
    assert asked == [4, 9, 10]
    assert report.left_out_statements["differs from run to run"] == 1
