"""docs/architecture.md names the files that a program passes from the reply to its verdict; they are few."""

import os
import sys
from itertools import product
from unittest.mock import patch

from support.code_path import BESIDE, Follower, documented_path
from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome, Reply
from triathlon_runner.replies import extract_program
from triathlon_runner.sandbox import PYTHON_WIRE, Call, Job, Source, open_sandbox
from triathlon_runner.sandbox._inside import child

FORKS = "sandbox/_inside/server.py"
"""Works in a process that cannot be followed: it forks the child and reports how that ended."""

PROBLEM = Problem(
    task_id="test/path",
    entry_point="f",
    prompt="import math\n\ndef f(x):\n",
    reference="def f(x):\n    return ['a', x / 3]\n",
    inputs=("(1,)", "(2,)"),
    comparison=Comparison("close", tolerance=1e-6),
)
RIGHT = "def f(x):\n    whole = math.floor(x)\n    return ['a', x / 3 + 1e-9]\n"
FENCED = (
    f"This is wrong:\n```python\ndef f(x):\n    pass\n```\nCorrected:\n```python\n{RIGHT}\nprint(f(1))\n```"
)
REPLIES = {
    FENCED: Outcome.PASSED,
    f"Here it is:\n\n{RIGHT}\nAnd that is all.": Outcome.PASSED,
    f"```\n{RIGHT.replace('/ 3', '/ 2')}```": Outcome.FAILED,
    f"```\n{RIGHT.replace('/ 3', '/ 0')}```": Outcome.CRASHED,
}


def serve_in_this_process() -> None:
    """What happens in the child: it loads the program, makes a call, writes the result."""
    near, far = os.pipe(), os.pipe()
    program = PYTHON_WIRE.program(Job(f"import math\n{RIGHT}", ()))
    os.write(near[1], program + PYTHON_WIRE.call(Call("f", Source("(1,)"))))
    os.close(near[1])
    with patch.dict(sys.modules):  # which it adds the program to
        child.serve(near[0], far[1])
    for descriptor in (near[0], *far):
        os.close(descriptor)


async def test_the_documented_files_are_those_that_a_program_passes() -> None:
    path = documented_path("The path of one program", "The path of one question")
    follower = Follower()
    async with open_sandbox(jobs=1) as sandbox:
        grader = ProgramGrader(sandbox)
        await grader.grade(PROBLEM.reference, PROBLEM)  # the answer key is made, the server started
        for (text, outcome), completes in product(REPLIES.items(), (False, True)):
            with follower:
                extraction = extract_program(
                    Reply(text=text), entry_point="f", prompt=PROBLEM.prompt, completes=completes
                )
                verdict = await grader.grade(extraction.program, PROBLEM)
            assert verdict.outcome is outcome
    with follower:
        serve_in_this_process()
    assert path <= follower.files | {FORKS} <= path | BESIDE
