"""Grades programs by differential testing: what they return against what the reference returns."""

import re
from pathlib import Path
from typing import Literal, Protocol

from triathlon_runner.datasets import FunctionProblem, Problem, TestedProblem
from triathlon_runner.grading._answer_keys import AnswerKey, AnswerKeys
from triathlon_runner.grading._code_tests import CodeTestGrader
from triathlon_runner.grading._grade_results import ReferenceResults, grade_results
from triathlon_runner.records import Verdict
from triathlon_runner.sandbox import Job, Limits, Sandbox


class Grader(Protocol):
    """Grades programs against a problem's reference, with one sandbox and a store of answer keys."""

    @property
    def sandbox(self) -> Sandbox: ...

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Tests a complete Python program against the reference, stopping at the first failing input.

        A problem whose tests are code is graded by these, on all of them.

        Raises:
            SandboxError: our machinery failed, or the problem's own reference did.
        """
        ...


MIN_CPU_SECONDS = 10.0
"""For all inputs together. The official harnesses give each input a second: of 992 recorded solutions three
that they passed take 4 to 5 s in all (HumanEval/103 and 138)."""
CPU_FACTOR = 4.0
"""A program may take this many times the reference's CPU time on the same inputs, and `MIN_CPU_SECONDS`."""
WALL_SECONDS = 20.0
"""How long a program may sleep."""
RESULT_BYTES = 1 << 20
RESULT_FACTOR = 2
"""A result may be so much longer than the longest expected one; equal values differ little in their form."""
_NUMPY = re.compile(r"^\s*(import|from)\s+numpy\b", re.MULTILINE)

_ITEMS_OF_ITERATORS = """


def _triathlon_items_of(function):
    def call(*arguments):
        result = function(*arguments)
        return list(result) if hasattr(result, "__next__") else result

    return call


ENTRY_POINT = _triathlon_items_of(ENTRY_POINT)
"""
"""Appended to a program whose results count as sets: EvalPlus makes a `set` of results, generators too."""


class ProgramGrader:
    """A `Grader` over one sandbox; answer keys are stored in the folder `keys`, or in memory (None)."""

    def __init__(
        self,
        sandbox: Sandbox,
        keys: Path | None = None,
        *,
        min_cpu_seconds: float = MIN_CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
    ) -> None:
        """`min_cpu_seconds`: what a program may compute however fast its reference is."""
        self._sandbox = sandbox
        self._keys = AnswerKeys(sandbox, keys)
        self._code_tests = CodeTestGrader(sandbox)
        self._min_cpu_seconds = min_cpu_seconds
        self._wall_seconds = wall_seconds

    @property
    def sandbox(self) -> Sandbox:
        return self._sandbox

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Tests a complete Python program against the reference, stopping at the first failing input.

        A problem whose tests are code is graded by these.

        Raises:
            SandboxError: our machinery failed, or the problem's own reference did.
        """
        if isinstance(problem, TestedProblem):
            return await self._code_tests.grade(program, problem)
        key = await self._keys.of(problem)
        count = problem.base_inputs if inputs == "base" and problem.base_inputs else len(problem.inputs)
        libraries = _libraries(program, problem)
        if problem.comparison.oracle == "set":
            program += _ITEMS_OF_ITERATORS.replace("ENTRY_POINT", problem.entry_point)
        job = Job(program, key.calls(count), limits=self._limits(key), libraries=libraries)
        return await grade_results(self._sandbox, job, ReferenceResults(self._sandbox, problem, key))

    def _limits(self, key: AnswerKey) -> Limits:
        cpu = max(self._min_cpu_seconds, CPU_FACTOR * key.cpu_seconds)
        size = RESULT_BYTES + RESULT_FACTOR * key.largest
        return Limits(cpu_seconds=cpu, wall_seconds=self._wall_seconds, result_bytes=size)


def _libraries(program: str, problem: Problem) -> frozenset[str]:
    """What the problem needs, and numpy for a program that chose to use it."""
    wanted = "numpy" in program and _NUMPY.search(program)
    return problem.libraries | {"numpy"} if wanted else problem.libraries
