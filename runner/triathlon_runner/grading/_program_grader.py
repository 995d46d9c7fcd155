"""Grades programs by differential testing: what they return against what the reference returns.

Results become a verdict in the same way in every language: each is compared as it arrives, up to the first
that is wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from triathlon_runner.concurrency import Once
from triathlon_runner.datasets import FunctionProblem, Problem
from triathlon_runner.grading._answer_keys import RAISED, AnswerKey, UngradableError, answer_key
from triathlon_runner.grading._code_tests import CodeTestGrader, outcome_of_ending, outcome_of_loading
from triathlon_runner.grading._compare import agree, shorten, shown, special
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import (
    HASHED_BYTES,
    Ended,
    Job,
    Limits,
    Raised,
    Sandbox,
    Sent,
    Tagged,
)
from triathlon_runner.syntax import chosen_libraries, literal_tuple

_MIN_CPU_SECONDS: Final = 10.0
"""For all inputs together. The official harnesses give each input a second: of 992 recorded solutions three
that they passed take 4 to 5 s in all (HumanEval/103 and 138)."""
_CPU_FACTOR: Final = 4.0
"""A program may take this many times the reference's CPU time on the same inputs, and `_MIN_CPU_SECONDS`."""
_WALL_SECONDS: Final = 20.0
"""How long a program may sleep."""
_RESULT_BYTES, _RESULT_FACTOR = 1 << 20, 2
"""A result may have the bytes, and this many times those of the longest expected one: equal values differ
little in their form."""
MAX_DECODED_BYTES = HASHED_BYTES
"""A longer output is compared as it was sent and never decoded: as objects it would fill the memory."""
_ITEMS_OF_RESULTS = """


def _triathlon_items_of(function):
    import builtins

    names = builtins.globals()

    def call(*arguments):
        names["ENTRY_POINT"] = function  # which may call itself
        try:
            result = function(*arguments)
        finally:
            names["ENTRY_POINT"] = call
        try:
            items = builtins.iter(result)
        except builtins.TypeError:
            return result
        return builtins.list(items)

    return call


ENTRY_POINT = _triathlon_items_of(ENTRY_POINT)
"""
"""Appended to a program whose results count as sets: EvalPlus takes whatever a `set` can be made of."""


class Grader(Protocol):
    """Grades programs against a problem's reference, with one sandbox and a store of answer keys."""

    @property
    def sandbox(self) -> Sandbox: ...

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """Tests a complete Python program against the reference, stopping at the first failing input.

        A problem whose tests are code is graded by these, on all of them.
        """
        ...


class ProgramGrader:
    """A `Grader` over one sandbox; answer keys are stored in the folder `keys`, or in memory (None)."""

    def __init__(
        self,
        sandbox: Sandbox,
        keys: Path | None = None,
        *,
        min_cpu_seconds: float = _MIN_CPU_SECONDS,
        wall_seconds: float = _WALL_SECONDS,
    ) -> None:
        """`min_cpu_seconds`: what a program may compute however fast its reference is."""
        self.sandbox = sandbox
        self._folder = keys
        self._keys: Once[Problem, AnswerKey | UngradableError] = Once()
        self._code_tests = CodeTestGrader(sandbox)
        self._min_cpu_seconds = min_cpu_seconds
        self._wall_seconds = wall_seconds

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        if not isinstance(problem, Problem):
            return await self._code_tests.grade(program, problem)
        key = await self._keys.get(problem, partial(self._key_or_refusal, problem))
        if isinstance(key, UngradableError):
            raise UngradableError(str(key))
        count = problem.base_inputs if inputs == "base" and problem.base_inputs else len(problem.inputs)
        libraries = problem.libraries | chosen_libraries(program)
        if problem.comparison.oracle == "set":
            program += _ITEMS_OF_RESULTS.replace("ENTRY_POINT", problem.entry_point)
        limits = Limits(
            cpu_seconds=max(self._min_cpu_seconds, _CPU_FACTOR * key.cpu_seconds),
            wall_seconds=self._wall_seconds,
            result_bytes=_RESULT_BYTES + _RESULT_FACTOR * key.largest,
        )
        job = Job(program, key.calls(count), limits=limits, libraries=libraries)
        return await grade_results(
            self.sandbox, job, partial(_fault, problem, key), partial(_texts, problem, key)
        )

    async def _key_or_refusal(self, problem: Problem) -> AnswerKey | UngradableError:
        try:
            return await answer_key(self.sandbox, self._folder, problem)
        except UngradableError as error:
            return error


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a result is not the expected one."""

    outcome: Outcome
    got: str
    """The result, for a reader."""


FaultOf = Callable[[int, Sent | Raised], Fault | None]
"""What is wrong with the result on an input, None if it is right. MalformedError: the child sent no value."""
TextsOf = Callable[[int], tuple[str, str]]
"""An input and what it should give, for a reader."""


async def grade_results(sandbox: Sandbox, job: Job, fault_of: FaultOf, texts_of: TextsOf) -> Verdict:
    """Executes a job and compares its results, up to the first that is wrong."""
    passed = 0
    fault: Fault | None = None

    def take(index: int, result: Sent | Raised) -> bool:
        nonlocal passed, fault
        fault = fault_of(index, result)
        passed += fault is None
        return fault is None

    execution = await sandbox.stream(job, take)
    total = len(job.calls)
    if execution.ended is Ended.NOT_LOADED:
        (raised,) = execution.results
        return Verdict(outcome=outcome_of_loading(raised), passed=0, total=total, detail=shorten(str(raised)))
    if fault is None and passed == total:
        return Verdict(outcome=Outcome.PASSED, passed=total, total=total, detail=shorten(execution.detail))
    if fault is None:
        fault = Fault(outcome_of_ending(execution.ended), execution.detail)
    text, expected = map(shorten, texts_of(passed))
    streams = (("stdout", execution.stdout), ("stderr", execution.stderr))
    printed = "; ".join(f"{name}: …{text[-200:]}" for name, text in streams if text.strip())
    return Verdict(
        outcome=fault.outcome,
        passed=passed,
        total=total,
        failing=FailingCase(index=passed, input=text, expected=expected, got=shorten(fault.got)),
        detail=shorten(execution.detail or printed),
    )


def _fault(problem: Problem, key: AnswerKey, index: int, result: Sent | Raised) -> Fault | None:
    """What is wrong with a result, by the problem's answer key."""
    comparison = problem.comparison
    is_special = comparison.oracle == "checker"
    # Equal encodings of plain data are equal values: most results are never decoded.
    if isinstance(result, Sent) and not is_special and key.is_sent(index, result) and key.plain(index):
        return None
    length = result.size if isinstance(result, Sent) else 0
    if max(length, key.length(index)) > MAX_DECODED_BYTES:  # not decoded: another encoding, another value
        if isinstance(result, Raised):
            return Fault(Outcome.CRASHED, str(result))
        return Fault(Outcome.FAILED, f"another value, of {length} bytes")
    expected = key.expected(index)
    raises = isinstance(expected, Tagged) and expected.type == RAISED  # then the same type is expected
    if isinstance(result, Raised):
        if raises and result.type == expected.value:
            return None
        return Fault(Outcome.FAILED if raises else Outcome.CRASHED, str(result))
    got = result.value()
    if raises:
        right = False
    elif is_special:
        arguments = _arguments(problem.inputs[index])
        right = special(comparison.checker, arguments, expected, got, comparison.tolerance)
    else:
        right = agree(comparison, expected, got)
    return None if right else Fault(Outcome.FAILED, shown(got))


@lru_cache(maxsize=4096)
def _arguments(text: str) -> tuple[Any, ...]:
    """An input as values, read once for all programs: the official sets have some 1,250 such inputs."""
    return literal_tuple(text) or ()


def _texts(problem: Problem, key: AnswerKey, index: int) -> tuple[str, str]:
    """An input and the reference's output, for a reader."""
    text, length = problem.inputs[index], key.length(index)
    if length > MAX_DECODED_BYTES:
        return text, f"a value of {length} bytes"
    expected = key.expected(index)
    if isinstance(expected, Tagged) and expected.type == RAISED:
        return text, f"raises {expected.value}"
    return text, shown(expected)
