"""Judging by `check(candidate)` (HumanEval's own format), also where what the function returns can't cross.

The tests run away from the program, which then is a relay of plain data (`outside`). Where the problem's own
reference does not pass that way, because it returns generators or objects, say, the check is read as a
unittest method and runs beside the program (`same-process`, see `_classes`). That is done only if every
assertion compares with a literal: these are taken out of the text, so a program can't know them.
"""

import ast
import asyncio
from dataclasses import dataclass

from triathlon_runner.datasets import ClassProblem
from triathlon_runner.datasets.official import TestedProblem
from triathlon_runner.grading._classes import ClassGrader
from triathlon_runner.grading._tests import (
    UnjudgeableError,
    check_that_tests_call,
    judge_by_tests,
    with_helpers,
)
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import Sandbox


class TestedGrader:
    """Judges by tests that are code, on one sandbox."""

    __test__ = False  # no test class of pytest's

    def __init__(self, sandbox: Sandbox, classes: ClassGrader) -> None:
        self._sandbox = sandbox
        self._classes = classes
        self._crossing: dict[TestedProblem, Verdict] = {}
        self._useless: dict[TestedProblem, str] = {}
        """Why a problem's tests prove nothing; empty where they may."""
        self._finding: dict[TestedProblem, asyncio.Lock] = {}

    async def judge(self, program: str, problem: TestedProblem) -> Verdict:
        """Runs the tests away from the program; beside it only where the reference does not pass that way.

        Raises:
            UnjudgeableError: the problem's tests prove nothing.
            SandboxError: our machinery failed.
        """
        if useless := await self._why_useless(problem):
            raise UnjudgeableError(useless)
        verdict = await self._away(program, problem)
        if verdict.outcome is Outcome.PASSED or not problem.reference:
            return verdict
        reference = await self._of_reference(problem)
        if reference.outcome is Outcome.PASSED:
            return verdict
        return await self._classes.judge(program, beside_problem(problem, reference.detail))

    async def _why_useless(self, problem: TestedProblem) -> str:
        async with self._finding.setdefault(problem, asyncio.Lock()):  # once, however many ask at a time
            if problem not in self._useless:
                tests = with_helpers(problem.tests, problem.prompt, problem.entry_point)
                found = ""
                try:
                    await check_that_tests_call(self._sandbox, tests, (problem.entry_point,), problem.task_id)
                except UnjudgeableError as error:
                    found = str(error)
                self._useless[problem] = found
        return self._useless[problem]

    async def _away(self, program: str, problem: TestedProblem) -> Verdict:
        tests = with_helpers(problem.tests, problem.prompt, problem.entry_point)
        return await judge_by_tests(self._sandbox, program, tests, (problem.entry_point,))

    async def _of_reference(self, problem: TestedProblem) -> Verdict:
        async with self._finding.setdefault(problem, asyncio.Lock()):  # once, however many ask at a time
            if problem not in self._crossing:
                self._crossing[problem] = await self._away(problem.reference, problem)
        return self._crossing[problem]


def beside_problem(problem: TestedProblem, why: str) -> ClassProblem:
    """The same problem with its check as a method of a unittest class.

    Raises:
        UnjudgeableError: an assertion does not compare with a literal; `why` the tests can't run elsewhere.
    """
    try:
        tree = ast.parse(problem.tests)
        checks = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "check"]
        reading = _Reading(problem.entry_point)
        rewritten = [reading.visit(one) if one in checks[-1:] else one for one in tree.body]
        sound = reading.found > 0 and not any(_asserts(one) for one in rewritten)
    except (SyntaxError, ValueError):  # or a check of other than one argument
        sound = False
    if not sound:
        raise UnjudgeableError(
            f"the tests of {problem.task_id} can't be judged: its own reference does not pass them from "
            f"another process ({why or 'its results are no plain data'}), and to run them beside a program, "
            "every assertion has to say what equals which literal (assert candidate(2) == 4)"
        )
    text = ast.unparse(
        ast.fix_missing_locations(ast.Module([ast.parse("import unittest").body[0], *rewritten], []))
    )
    return ClassProblem(problem.task_id, "", problem.reference, text)


def _asserts(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Assert) for one in ast.walk(node))


@dataclass
class _Reading(ast.NodeTransformer):
    """Rewrites `check(candidate)`; an assertion of another kind stays as it is."""

    entry_point: str
    found: int = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if node.name != "check":
            return node
        (candidate,) = [one.arg for one in node.args.args] or ["candidate"]
        named = ast.parse(f"{candidate} = {self.entry_point}").body
        method = ast.parse("def test_check(self):\n    pass\n").body[0]
        assert isinstance(method, ast.FunctionDef)
        method.body = [*named, *node.body]
        case = ast.parse("class TriathlonCheck(unittest.TestCase):\n    pass\n").body[0]
        assert isinstance(case, ast.ClassDef)
        case.body = [method]
        return case

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        match node.test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                if _is_literal(left) == _is_literal(right):
                    return node
                self.found += 1
                method = ast.Attribute(ast.Name("self", ast.Load()), "assertEqual", ast.Load())
                return ast.Expr(ast.Call(method, [left, right], []))
        return node


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True
