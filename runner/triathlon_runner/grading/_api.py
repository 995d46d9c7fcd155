"""What a discipline sees of grading."""

from typing import Literal, Protocol

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Sandbox


class Grader(Protocol):
    """Judges programs against a problem's reference, with one sandbox and a store of answer keys."""

    @property
    def sandbox(self) -> Sandbox: ...

    async def judge(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Tests a complete Python program against the reference, stopping at the first failing input.

        A problem whose tests are code is judged by these, on all of them.

        Raises:
            SandboxError: our machinery failed, or the problem's own reference did.
        """
        ...
