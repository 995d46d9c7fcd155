"""A stand-in for a grader, and what a model says in a loop: in memory, no process and no HTTP."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Literal, cast

from triathlon_runner.datasets import FunctionProblem, Problem
from triathlon_runner.loop import LoopSuite, Setting
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Finish, Outcome, Reply, Verdict
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo

ADD = Problem(
    task_id="t/add",
    entry_point="add",
    prompt='"""\nWrite a function to add two numbers.\nassert add(1, 2) == 3\n"""\n',
    reference="def add(a, b):\n    return a + b\n",
    inputs=("(1, 2)",),
    assertion="assert add(1, 2) == 3",
)
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return 'wrong'\n```"


@dataclass
class FakeGrader:
    """Passes every program that does not hold the word `wrong`."""

    judged: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)

    @property
    def sandbox(self) -> Sandbox:
        return cast(Sandbox, SimpleNamespace(level="none"))

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        self.judged.append(program)
        self.inputs.append(inputs)
        failed = "wrong" in program
        return Verdict(
            outcome=Outcome.FAILED if failed else Outcome.PASSED, passed=0 if failed else 1, total=1
        )


def cut(text: str) -> Reply:
    """A reply that the token limit ended."""
    return Reply(text=text, finish=Finish.LENGTH)


def is_summary(text: str) -> bool:
    """Whether this question of our built-in prompts asks for a sentence."""
    return "Say in one sentence" in text or text.endswith("# Request:")


def loop_suite(setting: Setting | None = None, problem: Problem = ADD) -> LoopSuite:
    """The loop on one problem."""
    data = DataSetInfo("test", "1", "0" * 64)
    return LoopSuite("loop/test", data, [problem], load_prompts("loop"), setting or Setting())


def failing_in(
    loop: int, how: str | Reply = WRONG, *, summary: str | Reply = "Write a Python function to add."
) -> Callable[[str], str | Reply]:
    """What a model says whose program of that loop is replaced; of no loop for 0."""
    programs = 0

    def say(text: str) -> str | Reply:
        nonlocal programs
        if is_summary(text):
            return summary
        programs += 1
        return how if programs == loop else RIGHT

    return say
