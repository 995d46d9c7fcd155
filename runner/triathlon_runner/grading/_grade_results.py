"""Turns results into a verdict, for every language: compares each as it arrives, up to the first fault."""

from dataclasses import dataclass
from typing import Any, Final

from triathlon_runner.datasets import Problem
from triathlon_runner.grading._answer_keys import MAX_DECODED_BYTES, RAISED, AnswerKey
from triathlon_runner.grading._compare import agree
from triathlon_runner.grading._special import SPECIAL, special
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    Raised,
    Returned,
    Sandbox,
    SandboxError,
    Sent,
    Tagged,
    is_plain,
)

SHOWN: Final = 500
"""Characters of a value that a verdict shows."""


def shown(value: object) -> str:
    """A value as text, shortened; never fails, however large the value."""
    try:
        return shorten(repr(value))
    except ValueError:  # an int of more digits than Python writes
        return f"<{type(value).__name__} with an int too long to write>"


def shorten(text: str) -> str:
    """The beginning of a text, as characters that every record can hold."""
    text = text[: SHOWN + 1].encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a result is not the expected one."""

    outcome: Outcome
    got: str
    """The result, for a reader."""

    @classmethod
    def exception(cls, raised: Raised) -> "Fault":
        """Returns the fault of a call that raised."""
        return cls(Outcome.CRASHED, str(raised))


class ExpectedResults:
    """What a program has to return on each input; subclasses say how results are compared."""

    def fault(self, index: int, result: Sent | Raised) -> Fault | None:
        """What is wrong with the result on this input; None where it is right, or `late_fault` decides."""
        raise NotImplementedError

    async def late_fault(self) -> tuple[int, Fault] | None:
        """The first wrong result, with its index, among those that can be compared only together."""
        return None

    def texts(self, index: int) -> tuple[str, str]:
        """This input and what it should give, for a reader."""
        raise NotImplementedError


async def grade_results(sandbox: Sandbox, job: Job, expected: ExpectedResults) -> Verdict:
    """Executes a job and compares its results, up to the first that is wrong.

    Raises:
        SandboxError: our machinery failed.
    """
    passed, fault = 0, None
    async with sandbox.stream(job) as results:
        async for index, result in results:
            fault = expected.fault(index, result)
            if fault is not None:
                break
            passed += 1
    late = await expected.late_fault()
    if late is not None:
        passed, fault = late
    return _verdict(results.execution, expected, passed, len(job.calls), fault)


def outcome_of_ending(ended: Ended) -> Outcome:
    """The outcome of a program whose process ended before it answered."""
    return Outcome.TIMED_OUT if ended is Ended.TIMED_OUT else Outcome.CRASHED


def _verdict(
    execution: Execution, expected: ExpectedResults, passed: int, total: int, fault: Fault | None
) -> Verdict:
    if execution.ended is Ended.NOT_LOADED:
        (raised,) = execution.results
        assert isinstance(raised, Raised)
        return Verdict(outcome=Outcome.CRASHED, passed=0, total=total, detail=shorten(str(raised)))
    if fault is None and passed == total:
        return Verdict(outcome=Outcome.PASSED, passed=total, total=total, detail=shorten(execution.detail))
    if fault is None:
        fault = Fault(outcome_of_ending(execution.ended), execution.detail)
    input_text, expected_text = expected.texts(passed)
    return Verdict(
        outcome=fault.outcome,
        passed=passed,
        total=total,
        failing=FailingCase(
            index=passed, input=shorten(input_text), expected=shorten(expected_text), got=shorten(fault.got)
        ),
        detail=shorten(execution.detail or _printed(execution)),
    )


def _printed(execution: Execution) -> str:
    """The end of what a failing program printed, as evidence."""
    streams = (("stdout", execution.stdout), ("stderr", execution.stderr))
    return "; ".join(f"{name}: …{text[-200:]}" for name, text in streams if text.strip())


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
    return Fault(Outcome.FAILED, str(result))
