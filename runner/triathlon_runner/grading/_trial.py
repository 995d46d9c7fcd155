"""One program's trial: its results against the reference's, as they come."""

from typing import Any

from triathlon_runner.datasets import Problem
from triathlon_runner.grading._answer_key import RAISED, UNREAD, AnswerKey
from triathlon_runner.grading._compare import agree
from triathlon_runner.grading._shown import shorten, shown
from triathlon_runner.grading._special import SPECIAL, special
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import Ended, Execution, Raised, Returned, Sent, Tagged, is_plain


class Trial:
    """The comparison of one program's results as they come."""

    def __init__(self, problem: Problem, key: AnswerKey) -> None:
        self.problem = problem
        self.key = key
        self.to_check: list[tuple[int, Any]] = []
        """Results that wait for the problem's own checker, with their inputs' positions."""
        self._by_program = problem.comparison.oracle == "checker" and (
            problem.comparison.checker not in SPECIAL
        )
        self._passed = 0
        self._failing: FailingCase | None = None
        self._outcome = Outcome.PASSED

    def see(self, index: int, result: Sent | Raised) -> bool:
        """Takes one result; False where no more are needed."""
        if isinstance(result, Sent) and self._same_bytes(index, result.payload):
            self._passed += 1
            return True
        length = len(result.payload) if isinstance(result, Sent) else 0
        if max(length, self.key.length(index)) > UNREAD:
            return self._see_unread(result, length)
        expected = self.key.expected(index)
        if isinstance(expected, Tagged) and expected.type == RAISED:
            return self._see_exception(expected.value, result)
        if isinstance(result, Raised):
            return self._fail(Outcome.CRASHED, f"{result.type}: {result.message}")
        return self._see_value(index, expected, result.value())

    def _same_bytes(self, index: int, payload: bytes) -> bool:
        """Equal encodings of plain data are equal values; most results are never looked into."""
        return (
            self.problem.comparison.oracle != "checker"
            and payload == self.key.encoded(index)
            and self.key.plain(index)
        )

    def _see_unread(self, result: Sent | Raised, length: int) -> bool:
        """A value too long to be decoded, whose encoding is not the expected one, is another value."""
        if isinstance(result, Raised):
            return self._fail(Outcome.CRASHED, f"{result.type}: {result.message}")
        return self._fail(Outcome.FAILED, f"another value, of {length} bytes")

    def _see_value(self, index: int, expected: Any, got: Any) -> bool:
        if self._by_program and is_plain(got):
            self.to_check.append((index, got))
            return True
        if self._agrees(index, expected, got):
            self._passed += 1
            return True
        return self._fail(Outcome.FAILED, shown(got))

    def _see_exception(self, expected: str, result: Sent | Raised) -> bool:
        """An input on which the reference itself raises: the program has to, with the same type."""
        if isinstance(result, Raised) and result.type == expected:
            self._passed += 1
            return True
        got = f"{result.type}: {result.message}" if isinstance(result, Raised) else shown(result.value())
        return self._fail(Outcome.FAILED, got)

    def see_checked(self, position: int, result: Returned | Raised) -> bool:
        """Takes what the checker said about one result."""
        index, got = self.to_check[position]
        if isinstance(result, Returned) and result.value is True:
            self._passed += 1
            return True
        return self._fail(Outcome.FAILED, shown(got), index)

    def _agrees(self, index: int, expected: Any, got: Any) -> bool:
        comparison = self.problem.comparison
        if self._by_program:  # reached only by what the checker could not even be shown
            return False
        if comparison.oracle == "checker":
            arguments = self.key.arguments[index]
            return special(comparison.checker, arguments, expected, got, comparison.tolerance)
        return agree(comparison, expected, got)

    def _fail(self, outcome: Outcome, got: str, index: int | None = None) -> bool:
        self._outcome = outcome
        index = self._passed + len(self.to_check) if index is None else index
        self._failing = FailingCase(
            index=index,
            input=shorten(self.problem.inputs[index]),
            expected=self._demanded(index),
            got=shorten(got),
        )
        return False

    def _demanded(self, index: int) -> str:
        if self.key.length(index) > UNREAD:
            return f"a value of {self.key.length(index)} bytes"
        expected = self.key.expected(index)
        if isinstance(expected, Tagged) and expected.type == RAISED:
            return f"raises {expected.value}"
        return shown(expected)

    def verdict(self, execution: Execution, total: int) -> Verdict:
        """The judgement, once the child has ended."""
        detail = execution.detail
        if execution.ended is Ended.NOT_LOADED:
            fault = execution.results[0]
            assert isinstance(fault, Raised)
            self._outcome, detail = Outcome.CRASHED, f"{fault.type}: {fault.message}"
        elif self._failing is None and self._passed < total:
            timed_out = execution.ended is Ended.TIMED_OUT
            self._fail(Outcome.TIMED_OUT if timed_out else Outcome.CRASHED, detail, self._passed)
        return Verdict(
            outcome=self._outcome,
            passed=self._passed,
            total=total,
            failing=self._failing,
            detail=shorten(detail or _printed(execution)) if self._failing else shorten(detail),
        )


def _printed(execution: Execution) -> str:
    """The end of what a failing program printed: the output so far, as evidence."""
    parts = [f"{name}: …{text[-200:]}" for name, text in _streams(execution) if text.strip()]
    return "; ".join(parts)


def _streams(execution: Execution) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("stdout", execution.stdout), ("stderr", execution.stderr)
