"""What a program has to return: the reference's results, compared by the problem's own rule."""

from typing import Any

from triathlon_runner.datasets import Problem
from triathlon_runner.grading._answer_key import MAX_DECODED_BYTES, RAISED, AnswerKey
from triathlon_runner.grading._compare import agree
from triathlon_runner.grading._judge import ExpectedResults, Fault
from triathlon_runner.grading._special import SPECIAL, special
from triathlon_runner.grading._text import shown
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Job,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    Tagged,
    is_plain,
)


class ReferenceResults(ExpectedResults):
    """The results in a problem's answer key."""

    def __init__(self, sandbox: Sandbox, problem: Problem, key: AnswerKey) -> None:
        """`sandbox` executes the problem's checker, where its comparison is a program of its own."""
        self._sandbox = sandbox
        self._problem = problem
        self._key = key
        comparison = problem.comparison
        self._by_oracle = comparison.oracle == "checker"
        self._by_program = self._by_oracle and comparison.checker not in SPECIAL
        self._to_check: list[tuple[int, Any]] = []
        """Index and value of the results that the problem's checker will look at."""

    def fault(self, index: int, result: Sent | Raised) -> Fault | None:
        """What is wrong with the result on this input.

        Raises:
            MalformedError: the child sent no value.
        """
        key = self._key
        # Equal encodings of plain data are equal values: most results are never decoded.
        if (
            isinstance(result, Sent)
            and not self._by_oracle
            and result.payload == key.encoded(index)
            and key.plain(index)
        ):
            return None
        length = len(result.payload) if isinstance(result, Sent) else 0
        if (
            max(length, key.length(index)) > MAX_DECODED_BYTES
        ):  # too long to be decoded: another encoding, another value
            if isinstance(result, Raised):
                return Fault.exception(result)
            return Fault(Outcome.FAILED, f"another value, of {length} bytes")
        expected = key.expected(index)
        if isinstance(expected, Tagged) and expected.type == RAISED:
            return _exception_fault(expected.value, result)
        if isinstance(result, Raised):
            return Fault.exception(result)
        return self._value_fault(index, expected, result.value())

    def _value_fault(self, index: int, expected: Any, got: Any) -> Fault | None:
        if self._by_program and is_plain(got):
            self._to_check.append((index, got))
            return None
        return None if self._agrees(index, expected, got) else Fault(Outcome.FAILED, shown(got))

    def _agrees(self, index: int, expected: Any, got: Any) -> bool:
        comparison = self._problem.comparison
        if self._by_program:  # a value that cannot even be sent to the checker
            return False
        if self._by_oracle:
            arguments = self._key.arguments[index]
            return special(comparison.checker, arguments, expected, got, comparison.tolerance)
        return agree(comparison, expected, got)

    async def late_fault(self) -> tuple[int, Fault] | None:
        """Executes the problem's checker, which is code, on its results, in a child of its own.

        Raises:
            SandboxError: our machinery failed, or the checker did.
        """
        if not self._to_check:
            return None
        problem, key = self._problem, self._key
        calls = tuple(
            Call("check", (key.arguments[index], key.expected(index), got)) for index, got in self._to_check
        )
        execution = await self._sandbox.run(
            Job(problem.comparison.checker, calls, libraries=problem.libraries)
        )
        checked = () if execution.ended is Ended.NOT_LOADED else execution.results
        for (index, got), result in zip(self._to_check, checked, strict=False):
            if not (isinstance(result, Returned) and result.value is True):
                return index, Fault(Outcome.FAILED, shown(got))
        if execution.ended is not Ended.FINISHED:
            raise SandboxError(f"the checker of {problem.task_id} failed: {execution.detail}")
        return None

    def texts(self, index: int) -> tuple[str, str]:
        """This input and the reference's result on it."""
        text = self._problem.inputs[index]
        if self._key.length(index) > MAX_DECODED_BYTES:
            return text, f"a value of {self._key.length(index)} bytes"
        expected = self._key.expected(index)
        if isinstance(expected, Tagged) and expected.type == RAISED:
            return text, f"raises {expected.value}"
        return text, shown(expected)


def _exception_fault(expected: str, result: Sent | Raised) -> Fault | None:
    """On an input on which the reference raises, the program has to raise the same type."""
    if not isinstance(result, Raised):
        return Fault(Outcome.FAILED, shown(result.value()))
    if result.type == expected:
        return None
    return Fault(Outcome.FAILED, f"{result.type}: {result.message}")
