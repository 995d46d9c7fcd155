"""Grades classes by their unittest modules: the tests run in one child, the class in another one.

The tests' child holds proxies of the program's classes. Constructing an object, calling a method and reading
or setting an attribute happen in the program's child; only plain data comes back. A test that needs one of
the program's objects itself (a copy of it, say) cannot be graded like this, and its class is refused.
"""

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from triathlon_runner.concurrency import Once
from triathlon_runner.datasets import ClassProblem
from triathlon_runner.grading._code_tests import (
    TEST_LIMITS,
    UngradableError,
    outcome_of_ending,
    outcome_of_loading,
)
from triathlon_runner.grading._compare import shorten
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import Call, Ended, Examination, Job, Limits, Raised, Sandbox
from triathlon_runner.syntax import import_statements, parse

_NOT_PROXIED = ("__init__", "__new__", "__getattr__", "__setattr__", "__del__", "__init_subclass__")

Method = tuple[str, str]
"""Class and name of a test method."""
MethodResult = tuple[Outcome, str]
"""How one test method ended, and the last line of what it reported."""


class ClassGrader:
    """Grades classes on one sandbox; checks once, with the reference, whether a problem can be graded."""

    def __init__(self, sandbox: Sandbox, limits: Limits = TEST_LIMITS) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._refusals = Once(self._find_refusal)

    async def grade(self, program: str, problem: ClassProblem) -> Verdict:
        """Runs the test methods one by one; the first that does not pass decides.

        Raises:
            UngradableError: the reference does not pass the tests from another process, or they never call
                the class.
            SandboxError: the sandbox failed.
        """
        if refusal := await self._refusals.get(problem):
            raise UngradableError(refusal)
        methods = _test_methods(problem.test)
        results = _method_results(methods, await self._run(program, problem, methods))
        for index, (outcome, detail) in enumerate(results):
            if outcome is not Outcome.PASSED:
                text = shorten(detail)
                name = ".".join(methods[index])
                case = FailingCase(index=index, input=name, expected="passed", got=text)
                return Verdict(outcome=outcome, passed=index, total=len(methods), failing=case, detail=text)
        return Verdict(outcome=Outcome.PASSED, passed=len(methods), total=len(methods))

    async def _find_refusal(self, problem: ClassProblem) -> str:
        """Why a problem cannot be graded; empty where it can."""
        try:
            parse(problem.reference)
            methods = _test_methods(problem.test)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return f"{problem.task_id} can't be graded: its reference or its tests are no Python ({error})"
        run = await self._run(problem.reference, problem, methods)
        named = zip(methods, _method_results(methods, run), strict=True)
        failing = [(name, detail) for name, (outcome, detail) in named if outcome is not Outcome.PASSED]
        if failing:
            name, detail = failing[0]
            return (
                f"{problem.task_id} can't be graded: its own reference fails {len(failing)} of {len(methods)}"
                f" test methods when they run in another process, {'.'.join(name)} first"
                f" ({detail}); a test may use plain data of the class, not its objects"
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
        relayed = ("_triathlon_access",)
        program = f"{program}\n{_source('candidate')}"
        return await self._sandbox.examine(
            Job(tests, calls, limits=self._limits, libraries=problem.libraries, relayed=relayed),
            Job(program, (), limits=self._limits, libraries=problem.libraries),
        )


@cache
def _source(name: str) -> str:
    """A module of the folder `_sandboxed`, as text."""
    return Path(__file__).with_name("_sandboxed").joinpath(f"{name}.py").read_text(encoding="utf-8")


def _test_methods(test: str) -> tuple[Method, ...]:
    """The test methods of a unittest module, in its order; raises SyntaxError where it is no Python."""
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
    return "\n".join([*import_statements(reference), _source("proxies"), *proxies, test])


def _special_methods(node: ast.ClassDef) -> list[str]:
    """The methods that operators and built-in functions call, such as `__len__`."""
    names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
    return [name for name in names if name[:2] == name[-2:] == "__" and name not in _NOT_PROXIED]


def _method_results(methods: Sequence[Method], run: Examination) -> list[MethodResult]:
    """One result a method; methods that were not run have the result of the program's child."""
    program, tests = run.candidate, run.examiner
    if program.ended is Ended.NOT_LOADED:
        return [(outcome_of_loading(program.results[0]), str(program.results[0]))] * len(methods)
    results = [
        (Outcome.CRASHED, result.message)
        if isinstance(result, Raised)
        else (Outcome(result.value[0]), str(result.value[1]))
        for result in tests.results[: len(methods)]
    ]
    ended = tests.ended if tests.ended is Ended.TIMED_OUT else program.ended
    rest = (outcome_of_ending(ended), program.detail or tests.detail)
    return results + [rest] * (len(methods) - len(results))
