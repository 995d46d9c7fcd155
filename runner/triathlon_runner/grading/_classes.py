"""Judging classes by their unittest modules.

A test method that the reference passes that way runs away from the program, as relays of plain data
(`outside`). One that can't, because an object of the program's own crosses, runs in its process
(`same-process`): there the assertions only report what they see, without the literal answers, and are decided
here. A pass then needs, for each assertion that the reference reaches, in its order, operands that hold and
that, where they are plain data, are the reference's.
"""

import ast
import asyncio
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from triathlon_runner.datasets import ClassProblem
from triathlon_runner.grading._class_tests import RELAYED, Site, UnittestModule, away, beside, read
from triathlon_runner.grading._keys import ReferenceFailedError
from triathlon_runner.grading._sandboxed import source
from triathlon_runner.grading._shown import shorten, shown
from triathlon_runner.grading._tests import UnjudgeableError
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.records._verdict import JudgedBy
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    Limits,
    Opaque,
    Raised,
    Returned,
    Sandbox,
    is_plain,
)

CLASS_LIMITS = Limits(cpu_seconds=10, wall_seconds=20, result_bytes=1 << 20)
"""For all test methods together; the size is that of one method's report, all of which are kept."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one test method showed."""

    ended: str
    """`passed`, `failed`, `crashed`, or `timed_out`."""
    words: str = ""
    sites: tuple[tuple[int, Any], ...] = ()
    """The assertions that were reached, in order, with the operands of those that are `Site.telling`."""


Method = tuple[str, str]
"""Class and name of a test method."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Where the test methods of one problem are decided."""

    outside: tuple[Method, ...]
    same_process: tuple[Method, ...]
    expected: dict[Method, _Seen]
    """What they show with the reference."""

    @property
    def judged(self) -> JudgedBy:
        return "same-process" if self.same_process else "outside"


class ClassGrader:
    """Judges classes on one sandbox. How a problem's tests run is found once, with its reference."""

    def __init__(self, sandbox: Sandbox, limits: Limits = CLASS_LIMITS) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._ways: dict[ClassProblem, Ways] = {}
        self._finding: dict[ClassProblem, asyncio.Lock] = {}

    async def ways(self, problem: ClassProblem) -> Ways:
        """Where the tests of a problem are decided.

        Raises:
            UnjudgeableError: the tests never call the class, nor look at anything of it.
            SandboxError: our machinery failed, or the reference does not pass either way.
        """
        async with self._finding.setdefault(problem, asyncio.Lock()):  # once, however many ask at a time
            if problem not in self._ways:
                self._ways[problem] = await self._find_ways(problem)
        return self._ways[problem]

    async def judge(self, program: str, problem: ClassProblem) -> Verdict:
        """Runs the test methods one by one; what counts is the first that does not pass.

        Raises:
            SandboxError: our machinery failed, or the reference does not pass either way.
        """
        ways, tests = await self.ways(problem), read(problem.test)
        seen = await self._seen(program, problem, tests, ways)
        for index, method in enumerate(tests.methods):
            one = seen[method]
            if one.ended != "passed" or not _as_expected(ways.expected[method], one):
                return _failed(index, tests, one, ways.judged)
        count = len(tests.methods)
        return Verdict(outcome=Outcome.PASSED, passed=count, total=count, judged=ways.judged)

    async def _find_ways(self, problem: ClassProblem) -> Ways:
        tests = _readable(problem)
        calls: list[Call] = []
        tried = await self._run_away(problem.reference, problem, tests.methods, calls.append)
        away = tuple(method for method in tests.methods if tried[method].ended == "passed")
        left = tuple(method for method in tests.methods if method not in away)
        fault = "there are no tests"
        for ways in (Ways(away, left, {}), Ways((), tests.methods, {})):  # some need what others left
            seen = await self._seen(problem.reference, problem, tests, ways)
            again = await self._seen(problem.reference, problem, tests, ways)
            wrong = [one for one in seen.values() if one.ended != "passed"]
            if seen and not wrong:
                if not calls and not any(one.sites for one in seen.values()):
                    raise UnjudgeableError(
                        f"the tests of {problem.task_id} prove nothing: executed, they never call"
                        f" {problem.class_name or 'the program'!r}, and any program would pass"
                    )
                return replace(ways, expected={one: _steady(seen[one], again[one]) for one in seen})
            fault = f"{wrong[0].ended}: {wrong[0].words}" if wrong else fault
        raise ReferenceFailedError(problem.task_id, fault)

    async def _seen(
        self, program: str, problem: ClassProblem, tests: UnittestModule, ways: Ways
    ) -> dict[Method, _Seen]:
        """What each method shows, each run where it is decided."""
        seen: dict[Method, _Seen] = {}
        if ways.outside:
            seen |= await self._run_away(program, problem, ways.outside)
        if ways.same_process:
            seen |= await self._run_beside(program, problem, tests, ways.same_process)
        return seen

    async def _run_away(
        self,
        program: str,
        problem: ClassProblem,
        methods: tuple[Method, ...],
        on_call: Callable[[Call], None] | None = None,
    ) -> dict[Method, _Seen]:
        calls = tuple(Call("_triathlon_test", method) for method in methods)
        text = away(problem.test, problem.reference)
        examiner = Job(text, calls, limits=self._limits, libraries=problem.libraries, asks=RELAYED)
        asked = f"{program}\n{source('candidate')}"
        candidate = Job(asked, (), limits=self._limits, libraries=problem.libraries)
        executions = await self._sandbox.examine(examiner, candidate, on_call)
        return _by_method(methods, executions, _of_away)

    async def _run_beside(
        self, program: str, problem: ClassProblem, tests: UnittestModule, methods: tuple[Method, ...]
    ) -> dict[Method, _Seen]:
        calls = tuple(Call("_triathlon_report", method) for method in methods)
        job = Job(beside(program, tests), calls, limits=self._limits, libraries=problem.libraries)
        execution = await self._sandbox.run(job)
        return _by_method(methods, (execution,), lambda value: _of_beside(value, tests.sites))


def _readable(problem: ClassProblem) -> UnittestModule:
    """The tests, where they and the reference are Python.

    Raises:
        UnjudgeableError: one of them is not.
    """
    try:
        ast.parse(problem.reference)
        return read(problem.test)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnjudgeableError(
            f"{problem.task_id} can't be judged: its reference or its tests are no Python ({error})"
        ) from None


def _by_method(
    methods: tuple[Method, ...], executions: tuple[Execution, ...], read_one: Callable[[Any], _Seen]
) -> dict[Method, _Seen]:
    """What each method showed; those that were not run any more ended as the program did."""
    results = () if executions[-1].ended is Ended.NOT_LOADED else executions[0].results
    seen = [
        read_one(result.value) if isinstance(result, Returned) else _Seen("crashed", result.message)
        for result in results[: len(methods)]
    ]
    seen += [_ending(executions)] * (len(methods) - len(seen))
    return dict(zip(methods, seen, strict=True))


def _of_away(value: Any) -> _Seen:
    return _Seen(str(value[0]), str(value[1]))


def _of_beside(value: Any, sites: list[Site]) -> _Seen:
    """Decides what was reported. Whatever is not of the form that the tests report is no pass."""
    try:
        (ended, words), reports = value
        for number, operands in reports:
            if not holds(sites[number], operands):
                return _Seen("failed", f"{sites[number].kind}: {', '.join(map(shown, operands))}")
        facts = ((number, operands if sites[number].telling else None) for number, operands in reports)
        return _Seen(str(ended), str(words), tuple(facts))
    except (TypeError, ValueError, IndexError, KeyError):
        return _Seen("crashed", f"an unreadable report: {shown(value)}")
    except ArithmeticError as error:  # as in the test itself: an int beyond every float less a float
        return _Seen("crashed", f"{type(error).__name__}: {error}")


def _steady(first: _Seen, second: _Seen) -> _Seen:
    """Only those operands that are the same in every run and in every right program."""
    pairs = zip(first.sites, second.sites, strict=False)
    return replace(
        first,
        sites=tuple(
            (number, operands if operands == other and _comparable(operands) else None)
            for (number, operands), (_, other) in pairs
        ),
    )


def _comparable(value: Any) -> bool:
    """Whether no object of the program's own is in it: what it holds inside is the program's own affair."""
    if isinstance(value, dict):
        return "triathlon object" not in value and all(map(_comparable, value.values()))
    return all(map(_comparable, value)) if isinstance(value, list | tuple) else is_plain(value)


def _as_expected(reference: _Seen, seen: _Seen) -> bool:
    """Whether the same assertions were reached in the same order, and saw what they have to see."""
    return len(reference.sites) == len(seen.sites) and all(
        number == wanted and (operands is None or operands == got)
        for (wanted, operands), (number, got) in zip(reference.sites, seen.sites, strict=True)
    )


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(("assertEqual", "assertListEqual", "assertDictEqual", "assertSetEqual"), operator.eq),
    **dict.fromkeys(("assertTupleEqual", "assertIs"), operator.eq),
    **dict.fromkeys(("assertNotEqual", "assertIsNot"), operator.ne),
    "assertIn": lambda item, items: item in items,
    "assertNotIn": lambda item, items: item not in items,
    "assertGreater": operator.gt,
    "assertGreaterEqual": operator.ge,
    "assertLess": operator.lt,
    "assertLessEqual": operator.le,
}
_HOLDS_ALONE: dict[str, Callable[[Any], bool]] = {
    "assertTrue": bool,
    "assertRaises": lambda raised: raised is True,
    "assertFalse": operator.not_,
    "assertIsNone": lambda value: value is None,
    "assertIsNotNone": lambda value: value is not None,
}


def holds(site: Site, operands: list[Any]) -> bool:
    """Whether an assertion holds for what it saw and its literals. What can't cross equals nothing."""
    left = iter(operands)
    count = len(operands) + len(site.literals)
    values = [site.literals[at] if at in site.literals else next(left) for at in range(count)]
    if site.kind in _HOLDS_ALONE:
        (value,) = values
        return _HOLDS_ALONE[site.kind](value)
    first, second = values
    if isinstance(first, Opaque) or isinstance(second, Opaque):
        return site.kind in ("assertNotEqual", "assertIsNot", "assertNotIn")
    if site.kind in ("assertAlmostEqual", "assertNotAlmostEqual"):
        near = first == second or round(abs(first - second), site.places) == 0
        return bool(near) == (site.kind == "assertAlmostEqual")
    return bool(_HOLDS[site.kind](first, second))


def _ending(executions: tuple[Execution, ...]) -> _Seen:
    """How the program's process ended, for the methods that it left out."""
    last = executions[-1]
    if last.ended is Ended.NOT_LOADED and isinstance(last.results[0], Raised):
        return _Seen("crashed", f"{last.results[0].type}: {last.results[0].message}")
    timed_out = any(one.ended is Ended.TIMED_OUT for one in executions)
    return _Seen("timed_out" if timed_out else "crashed", last.detail or executions[0].detail)


def _failed(index: int, tests: UnittestModule, seen: _Seen, judged: JudgedBy) -> Verdict:
    outcomes = {"failed": Outcome.FAILED, "timed_out": Outcome.TIMED_OUT, "passed": Outcome.FAILED}
    words = seen.words or "other assertions than with the reference"
    return Verdict(
        outcome=outcomes.get(seen.ended, Outcome.CRASHED),
        passed=index,
        total=len(tests.methods),
        failing=FailingCase(
            index=index, input=".".join(tests.methods[index]), expected="passed", got=shorten(words)
        ),
        judged=judged,
        detail=shorten(words),
    )
