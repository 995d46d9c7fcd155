"""Judges programs by differential testing: the reference's outputs against the program's, compared here."""

import re
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.datasets import Problem
from triathlon_runner.grading._compare import agree
from triathlon_runner.grading._keys import AnswerKey, AnswerKeys
from triathlon_runner.grading._special import special
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    Limits,
    Raised,
    Returned,
    Sandbox,
    Source,
)  # fmt: skip

MIN_CPU_SECONDS = 4.0
CPU_FACTOR = 4.0
"""A program may take this many times the reference's CPU time on the same inputs, and `MIN_CPU_SECONDS`."""
RESULT_BYTES = 1 << 20
RESULT_FACTOR = 2
"""A result may be so much longer than the longest expected one; equal values differ little in their form."""
SHOWN = 500
"""Characters of a value that a verdict shows."""


class ProgramGrader:
    """A `Grader` over one sandbox; answer keys are kept under `keys`, or (None) in memory."""

    def __init__(self, sandbox: Sandbox, keys: Path | None = None) -> None:
        self._sandbox = sandbox
        self._keys = AnswerKeys(sandbox, keys)

    @property
    def sandbox(self) -> Sandbox:
        return self._sandbox

    async def judge(
        self, program: str, problem: Problem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Tests a complete Python program against the reference, stopping at the first failing input.

        Raises:
            SandboxError: our machinery failed, or the problem's own reference did.
        """
        key = await self._keys.of(problem)
        count = problem.base_inputs if inputs == "base" and problem.base_inputs else len(problem.inputs)
        trial = _Trial(problem, key)
        calls = tuple(Call(problem.entry_point, Source(text)) for text in problem.inputs[:count])
        job = Job(program, calls, limits=_limits(key), libraries=_libraries(program, problem))
        execution = await self._sandbox.run(job, trial.see)
        return trial.verdict(execution, count)


def _limits(key: AnswerKey) -> Limits:
    cpu = max(MIN_CPU_SECONDS, CPU_FACTOR * key.cpu_seconds)
    size = RESULT_BYTES + RESULT_FACTOR * key.largest
    return Limits(cpu_seconds=cpu, wall_seconds=30 + 10 * cpu, result_bytes=size)


def _libraries(program: str, problem: Problem) -> frozenset[str]:
    uses_numpy = re.search(r"^\s*(import|from)\s+numpy\b", program, re.MULTILINE)
    return problem.libraries | ({"numpy"} if uses_numpy else set())


class _Trial:
    """The comparison of one program's results as they come."""

    def __init__(self, problem: Problem, key: AnswerKey) -> None:
        self._problem = problem
        self._key = key
        self._passed = 0
        self._failing: FailingCase | None = None
        self._outcome = Outcome.PASSED

    def see(self, index: int, result: Returned | Raised) -> bool:
        expected = self._key.expected[index]
        if isinstance(result, Raised):
            self._fail(Outcome.CRASHED, f"{result.type}: {result.message}")
        elif self._agrees(index, expected, result.value):
            self._passed += 1
            return True
        else:
            self._fail(Outcome.FAILED, shown(result.value))
        return False

    def _agrees(self, index: int, expected: Any, got: Any) -> bool:
        comparison = self._problem.comparison
        if comparison.oracle == "checker":
            arguments = self._key.arguments[index]
            return special(comparison.checker, arguments, expected, got, comparison.tolerance)
        return agree(comparison, expected, got)

    def _fail(self, outcome: Outcome, got: str) -> None:
        self._outcome = outcome
        index = self._passed
        self._failing = FailingCase(
            index=index,
            input=self._problem.inputs[index][:SHOWN],
            expected=shown(self._key.expected[index]),
            got=got[:SHOWN],
        )

    def verdict(self, execution: Execution, total: int) -> Verdict:
        detail = execution.detail
        if execution.ended is Ended.NOT_LOADED:
            fault = execution.results[0]
            assert isinstance(fault, Raised)
            self._outcome, detail = Outcome.CRASHED, f"{fault.type}: {fault.message}"
        elif self._failing is None and self._passed < total:
            timed_out = execution.ended is Ended.TIMED_OUT
            self._fail(Outcome.TIMED_OUT if timed_out else Outcome.CRASHED, execution.detail)
        return Verdict(
            outcome=self._outcome, passed=self._passed, total=total, failing=self._failing, detail=detail
        )  # fmt: skip


def shown(value: object) -> str:
    """A value as text for a reader, shortened; never fails, however large the value."""
    try:
        text = repr(value)
    except ValueError:  # an int of more digits than Python writes
        return f"<{type(value).__name__} with an int too long to write>"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
