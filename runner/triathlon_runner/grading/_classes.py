"""Grades classes by their unittest modules: the tests run in one child, the class in another one.

The tests' child holds proxies of the program's classes. Constructing an object, calling a method and reading
or setting an attribute happen in the program's child; only plain data comes back. A test that needs one of
the program's objects itself (a copy of it, say) cannot be graded like this, and its class is refused.
"""

import ast
import asyncio
from collections.abc import Sequence

from triathlon_runner.datasets import ClassProblem
from triathlon_runner.grading._code_tests import UngradableError
from triathlon_runner.grading._grade_results import outcome_of_ending, shorten
from triathlon_runner.grading._sandboxed import source
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import Call, Ended, Examination, Job, Limits, Raised, Returned, Sandbox
from triathlon_runner.syntax import import_statements, parse

CLASS_LIMITS = Limits(cpu_seconds=10, wall_seconds=20, result_bytes=1 << 20)
"""For all test methods together."""
_RELAYED = ("_triathlon_make", "_triathlon_get", "_triathlon_set", "_triathlon_call")
"""The functions of `_sandboxed/candidate.py` that the proxies call."""
_NOT_PROXIED = ("__init__", "__new__", "__getattr__", "__setattr__", "__del__", "__init_subclass__")

Method = tuple[str, str]
"""Class and name of a test method."""
MethodResult = tuple[Outcome, str]
"""How one test method ended, and the last line of what it reported."""


class ClassGrader:
    """Grades classes on one sandbox; checks once, with the reference, whether a problem can be graded."""

    def __init__(self, sandbox: Sandbox, limits: Limits = CLASS_LIMITS) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._refusals: dict[ClassProblem, str] = {}
        """Why a problem cannot be graded; empty where it can."""
        self._locks: dict[ClassProblem, asyncio.Lock] = {}

    async def grade(self, program: str, problem: ClassProblem) -> Verdict:
        """Runs the test methods one by one; the first that does not pass decides.

        Raises:
            UngradableError: the reference does not pass the tests from another process, or they never call
                the class.
            SandboxError: the sandbox failed.
        """
        if refusal := await self._refusal(problem):
            raise UngradableError(refusal)
        methods = _test_methods(problem.test)
        results = _method_results(methods, await self._run(program, problem, methods))
        for index, (outcome, detail) in enumerate(results):
            if outcome is not Outcome.PASSED:
                return _failed(methods, index, outcome, detail)
        return Verdict(outcome=Outcome.PASSED, passed=len(methods), total=len(methods))

    async def _refusal(self, problem: ClassProblem) -> str:
        async with self._locks.setdefault(
            problem, asyncio.Lock()
        ):  # once, also for several callers at the same time
            if problem not in self._refusals:
                self._refusals[problem] = await self._find_refusal(problem)
        return self._refusals[problem]

    async def _find_refusal(self, problem: ClassProblem) -> str:
        try:
            parse(problem.reference)
            methods = _test_methods(problem.test)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return f"{problem.task_id} can't be graded: its reference or its tests are no Python ({error})"
        run = await self._run(problem.reference, problem, methods)
        results = _method_results(methods, run)
        failing = [index for index, (outcome, _) in enumerate(results) if outcome is not Outcome.PASSED]
        if failing:
            first = failing[0]
            return (
                f"{problem.task_id} can't be graded: its own reference fails {len(failing)} of {len(methods)}"
                f" test methods when they run in another process, {'.'.join(methods[first])} first"
                f" ({results[first][1]}); a test may use plain data of the class, not its objects"
            )
        if not run.calls:
            return (
                f"the tests of {problem.task_id} prove nothing: executed, they never call"
                f" {problem.class_name!r}, and any program would pass"
            )
        return ""

    async def _run(self, program: str, problem: ClassProblem, methods: Sequence[Method]) -> Examination:
        calls = tuple(Call("_triathlon_test", method) for method in methods)
        tests = _module_with_proxies(problem.test, problem.reference)
        return await self._sandbox.examine(
            Job(tests, calls, limits=self._limits, libraries=problem.libraries, relayed=_RELAYED),
            Job(f"{program}\n{source('candidate')}", (), limits=self._limits, libraries=problem.libraries),
        )


def _test_methods(test: str) -> tuple[Method, ...]:
    """The test methods of a unittest module, in the order of its text.

    Raises:
        SyntaxError: it is no Python.
    """
    return tuple(
        (statement.name, item.name)
        for statement in parse(test).body
        if isinstance(statement, ast.ClassDef)
        and any("TestCase" in ast.unparse(base) for base in statement.bases)
        for item in statement.body
        if isinstance(item, ast.FunctionDef) and item.name.startswith("test")
    )


def _module_with_proxies(test: str, reference: str) -> str:
    """What the tests' child executes: the reference's imports, proxies of what it defines, the tests."""
    program = parse(reference)
    proxies = [
        f"{node.name} = _triathlon_class({node.name!r}, {_special_methods(node)!r})"
        if isinstance(node, ast.ClassDef)
        else f"{node.name} = _triathlon_function({node.name!r}, None)"
        for node in program.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    ]
    return "\n".join([*import_statements(reference), source("proxies"), *proxies, test, source("tests")])


def _special_methods(node: ast.ClassDef) -> list[str]:
    """The methods that operators and built-in functions call, such as `__len__`."""
    names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
    return [name for name in names if name[:2] == name[-2:] == "__" and name not in _NOT_PROXIED]


def _method_results(methods: Sequence[Method], run: Examination) -> list[MethodResult]:
    """One result a method; methods that were not run have the result of the program's child."""
    loaded = run.candidate.ended is not Ended.NOT_LOADED
    results = [_method_result(result) for result in run.examiner.results[: len(methods)] if loaded]
    return results + [_ending(run)] * (len(methods) - len(results))


def _method_result(result: Returned | Raised) -> MethodResult:
    if isinstance(result, Raised):
        return Outcome.CRASHED, result.message
    outcome, detail = result.value
    return Outcome(outcome), str(detail)


def _ending(run: Examination) -> MethodResult:
    """How the program's child ended."""
    last = run.candidate
    if last.ended is Ended.NOT_LOADED and isinstance(last.results[0], Raised):
        return Outcome.CRASHED, str(last.results[0])
    ended = run.examiner.ended if run.examiner.ended is Ended.TIMED_OUT else last.ended
    return outcome_of_ending(ended), last.detail or run.examiner.detail


def _failed(methods: Sequence[Method], index: int, outcome: Outcome, detail: str) -> Verdict:
    name = ".".join(methods[index])
    return Verdict(
        outcome=outcome,
        passed=index,
        total=len(methods),
        failing=FailingCase(index=index, input=name, expected="passed", got=shorten(detail)),
        detail=shorten(detail),
    )
