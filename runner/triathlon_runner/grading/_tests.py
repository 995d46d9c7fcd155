"""Judging by tests that are code: they run in a child of their own, the program in another one.

The function under test is there a relay: its calls are made in the program's child and come back as plain
data. So the expected values, the comparison and the verdict never are where the program is (`judged` is
`outside`); an object that equals everything is, on its way, reduced to what it really is.
"""

import ast

from triathlon_runner.grading._shown import shorten, shown
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import (
    Call,
    Ended,
    Execution,
    Job,
    Language,
    Limits,
    Raised,
    Sandbox,
    SandboxError,
)

TEST_LIMITS = Limits(cpu_seconds=10, wall_seconds=20, result_bytes=1 << 20)
"""For programs without a reference whose time could be taken; an interpreter's start costs up to 0.1 s.

What a test's text compares with is small, and as objects a result can take ten times its bytes here.
"""


class UnjudgeableError(SandboxError):
    """Nothing that a problem's tests say about a program could be trusted."""


async def judge_by_tests(
    sandbox: Sandbox,
    program: str,
    tests: str,
    functions: tuple[str, ...],
    *,
    language: Language = Language.PYTHON,
    limits: Limits = TEST_LIMITS,
    libraries: frozenset[str] = frozenset(),
) -> Verdict:
    """Executes `tests`, which call `functions` of the program; the program passes if they run to their end.

    In Python, tests that define `check(candidate)` (HumanEval, MBXP) are called with the first function.

    Raises:
        UnjudgeableError: the tests came to their end and never called the program.
        SandboxError: our machinery failed.
    """
    tests = _called(tests, functions, language)
    calls: list[Call] = []
    examiner, candidate = await sandbox.examine(
        Job(tests, (), language, limits=limits, libraries=libraries, asks=functions),
        Job(program, (), language, limits=limits, libraries=libraries),
        calls.append,
    )
    return _verdict(tests, functions, examiner, candidate, calls)


async def check_that_tests_call(
    sandbox: Sandbox, tests: str, functions: tuple[str, ...], task_id: str
) -> None:
    """Refuses tests that never call what they test: whatever the program, they would say the same.

    They run away from the program, so that nothing in it decides whether they get to their first call.

    Raises:
        UnjudgeableError: they make no call.
        SandboxError: our machinery failed.
    """
    tests = _called(tests, functions, Language.PYTHON)
    calls: list[Call] = []
    stub = "\n".join(f"def {name}(*_, **__): return None" for name in functions)
    examiner, _ = await sandbox.examine(
        Job(tests, (), limits=TEST_LIMITS, asks=functions), Job(stub, (), limits=TEST_LIMITS), calls.append
    )
    if calls:
        return
    if examiner.ended is Ended.FINISHED:
        raise UnjudgeableError(_no_call(functions, f"the tests of {task_id}"))
    raise UnjudgeableError(
        f"the tests of {task_id} prove nothing: they end before they call {functions[0]!r}"
        f" ({shorten(_demand(tests, examiner))})"
    )


def _called(tests: str, functions: tuple[str, ...], language: Language) -> str:
    """The tests with the call of the function that HumanEval's tests define."""
    if language is Language.PYTHON and "def check(" in tests:
        return f"{tests}\n\ncheck({functions[0]})\n"
    return tests


def _no_call(functions: tuple[str, ...], what: str) -> str:
    return (
        f"{what} prove nothing: executed, they never call {functions[0]!r}, and any program would pass; they"
        " need `def check(candidate)`, or assertions at the top level (functions for pytest are called by"
        " nobody here)"
    )


def with_helpers(tests: str, prompt: str, function: str) -> str:
    """Tests that may call what the prompt defines before the function (HumanEval/32, 38, 50)."""
    try:
        ast.parse(prompt)
    except (SyntaxError, ValueError):
        return tests
    return f"_candidate = {function}\n{prompt}\n{function} = _candidate\n{tests}"


def _verdict(
    tests: str, functions: tuple[str, ...], examiner: Execution, candidate: Execution, calls: list[Call]
) -> Verdict:
    passed = sum(not isinstance(result, Raised) for result in candidate.results)
    if examiner.ended is Ended.FINISHED:
        if not calls:
            raise UnjudgeableError(_no_call(functions, "the tests"))
        return Verdict(outcome=Outcome.PASSED, passed=1, total=1)
    if candidate.ended is Ended.NOT_LOADED:
        fault = candidate.results[0]
        assert isinstance(fault, Raised)
        return _failed(Outcome.CRASHED, None, f"{fault.type}: {fault.message}")
    if candidate.ended in (Ended.TIMED_OUT, Ended.DIED):
        outcome = Outcome.TIMED_OUT if candidate.ended is Ended.TIMED_OUT else Outcome.CRASHED
        return _failed(outcome, _case(calls, "a result", candidate.detail), candidate.detail)
    last = candidate.results[-1] if candidate.results else None
    if isinstance(last, Raised):
        got = f"{last.type}: {last.message}"
        return _failed(Outcome.CRASHED, _case(calls, _demand(tests, examiner), got), got)
    got = shown(last.value) if last is not None else f"no call ({passed} made)"
    return _failed(Outcome.FAILED, _case(calls, _demand(tests, examiner), got), examiner.detail)


def _failed(outcome: Outcome, failing: FailingCase | None, detail: str) -> Verdict:
    return Verdict(outcome=outcome, passed=0, total=1, failing=failing, detail=shorten(detail))


def _case(calls: list[Call], expected: str, got: str) -> FailingCase | None:
    """The last call that the tests made is the one that they did not like."""
    if not calls:
        return None
    last = calls[-1]
    arguments = ", ".join(map(shown, last.arguments)) if isinstance(last.arguments, tuple) else ""
    return FailingCase(
        index=len(calls) - 1,
        input=shorten(f"{last.function}({arguments})"),
        expected=shorten(expected),
        got=shorten(got),
    )


def _demand(tests: str, examiner: Execution) -> str:
    """The test's own words: the line at which it stopped, and what it said."""
    fault = examiner.results[-1] if examiner.results else None
    if not isinstance(fault, Raised):
        return examiner.detail
    lines = tests.splitlines()
    line = lines[fault.line - 1].strip() if fault.line and fault.line <= len(lines) else ""
    return " ".join(part for part in (line, f"({fault.type}: {fault.message})") if part)
