"""Grades by tests that are code: the tests run in one child, the program in another one.

The tests' child holds a relay in place of the function under test: a call to it is executed in the program's
child, and what it returns comes back as plain data. So neither expected values nor comparisons are ever in
the program's process, and an object that claims to equal everything is reduced to the data it holds.
"""

import ast
from functools import partial
from typing import Final

from triathlon_runner.concurrency import Once
from triathlon_runner.datasets import TestedProblem
from triathlon_runner.grading._answer_keys import UngradableError
from triathlon_runner.grading._compare import shorten, shown
from triathlon_runner.records import FailingCase, Outcome, Verdict
from triathlon_runner.sandbox import (
    Ended,
    Execution,
    Job,
    Language,
    Limits,
    Raised,
    Sandbox,
)
from triathlon_runner.syntax import (
    chosen_libraries,
    import_statements,
    parse_or_none,
    program_lines,
    third_party,
)

TEST_LIMITS: Final = Limits(cpu_seconds=10, wall_seconds=20, result_bytes=1 << 20)
"""For programs without a reference whose time could be taken.

An interpreter's start costs up to 0.1 s. What a test's text compares with is small, and as objects a result
can take ten times its bytes here.
"""
_ROUNDED: Final = "floats compared within 1e-9, since the reference misses its own test by rounding"
"""Stands in the verdict of every program that is graded so."""
_PROVE_NOTHING: Final = (
    "prove nothing: executed, they never call {function!r}, and any program would pass; they need"
    " `def check(candidate)`, or assertions at the top level (functions for pytest are called by nobody here)"
)


def outcome_of_ending(ended: Ended) -> Outcome:
    """The outcome of a program whose process ended before it answered."""
    return Outcome.TIMED_OUT if ended is Ended.TIMED_OUT else Outcome.CRASHED


def outcome_of_loading(raised: object) -> Outcome:
    """The outcome of a program that raised when it was loaded: one of its own tests failed, or it crashed."""
    is_assertion = isinstance(raised, Raised) and raised.type == "AssertionError"
    return Outcome.FAILED if is_assertion else Outcome.CRASHED


async def grade_by_tests(
    sandbox: Sandbox, program: str, tests: str, function: str, language: Language = Language.PYTHON
) -> Verdict:
    """Executes `tests`, which call the program's `function`; the program passes if they run to their end.

    In Python, tests that define `check(candidate)` (HumanEval, MBXP) are called with the function.

    Raises:
        UngradableError: the tests came to their end and never called the program.
    """
    tests = _with_check_call(tests, function, language)
    libraries = chosen_libraries(program + tests) if language is Language.PYTHON else frozenset()
    run = await sandbox.examine(
        Job(tests, (), language, TEST_LIMITS, libraries, relayed=(function,)),
        Job(program, (), language, TEST_LIMITS, libraries),
    )
    examiner, candidate = run.examiner, run.candidate
    if examiner.ended is Ended.FINISHED:
        if not run.calls:
            raise UngradableError(f"the tests {_PROVE_NOTHING.format(function=function)}")
        return Verdict(outcome=Outcome.PASSED, passed=1, total=1)
    last = candidate.results[-1] if candidate.results else None
    wanted, outcome = _failed_line(tests, examiner), Outcome.FAILED
    got, detail = shown(last.value) if last and not isinstance(last, Raised) else "no call", examiner.detail
    if candidate.ended is Ended.NOT_LOADED:
        return Verdict(outcome=outcome_of_loading(last), passed=0, total=1, detail=shorten(str(last)))
    if candidate.ended in (Ended.TIMED_OUT, Ended.DIED):
        outcome, wanted = outcome_of_ending(candidate.ended), "a result"
        got = detail = candidate.detail
    elif isinstance(last, Raised):
        outcome = Outcome.CRASHED
        got = detail = str(last)
    failing = None
    if run.calls:  # the last one's result is what the tests did not accept
        call = run.calls[-1]
        values = map(shown, call.arguments) if isinstance(call.arguments, tuple) else ()
        arguments = ", ".join([*values, *(f"{name}={shown(value)}" for name, value in call.named.items())])
        failing = FailingCase(
            index=len(run.calls) - 1,
            input=shorten(f"{call.function}({arguments})"),
            expected=shorten(wanted),
            got=shorten(got),
        )
    return Verdict(outcome=outcome, passed=0, total=1, failing=failing, detail=shorten(detail))


def _with_check_call(tests: str, function: str, language: Language) -> str:
    """The tests with the call of the function that HumanEval's tests define."""
    is_check = language is Language.PYTHON and "def check(" in tests
    return f"{tests}\n\ncheck({function})\n" if is_check else tests


def _failed_line(tests: str, examiner: Execution) -> str:
    """The line of the tests at which they stopped, and the exception that it raised."""
    fault = examiner.results[-1] if examiner.results else None
    if not isinstance(fault, Raised):
        return examiner.detail
    lines = program_lines(tests)
    line = lines[fault.line - 1].strip() if fault.line and fault.line <= len(lines) else ""
    return " ".join(part for part in (line, f"({fault})") if part)


class CodeTestGrader:
    """Grades problems whose tests are code, on one sandbox; checks once whether a problem's tests can."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._refusals: Once[TestedProblem, str] = Once()
        self._references: Once[TestedProblem, tuple[str, Verdict]] = Once()

    async def grade(self, program: str, problem: TestedProblem) -> Verdict:
        """Runs the tests in another process than the program.

        Where a function's reference misses them by rounding alone, floats are compared within 1e-9.

        Raises:
            UngradableError: the tests never call the program, or the problem's own reference fails them, too.
        """
        if refusal := await self._refusals.get(problem, partial(self._find_refusal, problem)):
            raise UngradableError(refusal)
        tests, name = _complete_tests(problem), problem.entry_point
        verdict = await grade_by_tests(self._sandbox, program, tests, name)
        if verdict.outcome is Outcome.PASSED or not problem.reference:
            return verdict
        passing, reference = await self._references.get(problem, partial(self._grade_reference, problem))
        if reference.outcome is not Outcome.PASSED:
            failing = reference.failing
            why = reference.detail or reference.outcome.value
            if failing is not None:
                why = f"at {failing.input} expected {failing.expected}, got {failing.got}"
            raise UngradableError(
                f"the tests of {problem.task_id} cannot grade: its own reference fails them when they run in"
                f" another process: {why}; fix the reference or the tests"
            )
        if passing == tests:
            return verdict
        verdict = await grade_by_tests(self._sandbox, program, passing, name)
        detail = f"{_ROUNDED}; {verdict.detail}".removesuffix("; ")
        return verdict.model_copy(update={"detail": shorten(detail)})

    async def _grade_reference(self, problem: TestedProblem) -> tuple[str, Verdict]:
        """The tests that the reference passes, where there are such, and how it ended."""
        tests = _complete_tests(problem)
        verdict = await grade_by_tests(self._sandbox, problem.reference, tests, problem.entry_point)
        if verdict.outcome is Outcome.FAILED and parse_or_none(tests):
            close = _with_close_comparisons(tests)
            again = await grade_by_tests(self._sandbox, problem.reference, close, problem.entry_point)
            if again.outcome is Outcome.PASSED:
                return close, again
        return tests, verdict

    async def _find_refusal(self, problem: TestedProblem) -> str:
        """Why a problem's tests prove nothing: they never call the function, or pass whatever it returns.

        They run without the program, so that nothing in it decides whether they get to their first call.
        Empty where they can fail.
        """
        name = problem.entry_point
        tests = _with_check_call(_complete_tests(problem), name, Language.PYTHON)
        examiner = Job(tests, (), limits=TEST_LIMITS, libraries=chosen_libraries(tests), relayed=(name,))
        for result in ("None", "'?'"):
            stub = Job(f"def {name}(*_, **__): return {result}", (), limits=TEST_LIMITS)
            run = await self._sandbox.examine(examiner, stub)
            if not run.calls or run.examiner.ended is not Ended.FINISHED:
                break
        else:
            return f"the tests of {problem.task_id} prove nothing: they pass, whatever {name!r} returns"
        if run.calls:
            return ""
        if run.examiner.ended is Ended.FINISHED:
            return f"the tests of {problem.task_id} {_PROVE_NOTHING.format(function=name)}"
        return (
            f"the tests of {problem.task_id} prove nothing: they end before they call {name!r}"
            f" ({shorten(_failed_line(tests, run.examiner))})"
        )


def _complete_tests(problem: TestedProblem) -> str:
    """A problem's tests with what they use of its program: modules that it imports, helpers in the prompt.

    HumanEval/32, 38 and 50 call such helpers; six problems of HumanEval Pro and MBPP Pro use such modules.
    """
    imports = [line for line in import_statements(problem.reference) if not third_party(line)]
    name = problem.entry_point
    helpers = [f"_candidate = {name}", problem.prompt, f"{name} = _candidate"]
    return "\n".join([*imports, *(helpers if parse_or_none(problem.prompt) else []), problem.tests])


# Tests whose own reference misses a literal by rounding

_CLOSE: Final = """
def _triathlon_close(left, right):
    import cmath
    if left == right:
        return True
    if isinstance(left, float | complex) or isinstance(right, float | complex):
        numbers = isinstance(left, int | float | complex) and isinstance(right, int | float | complex)
        return numbers and cmath.isclose(left, right, rel_tol=1e-9)
    if type(left) is not type(right) or not isinstance(left, list | tuple | dict) or len(left) != len(right):
        return False
    if isinstance(left, dict):
        return all(key in right and _triathlon_close(left[key], right[key]) for key in left)
    return all(map(_triathlon_close, left, right))
"""


def _with_close_comparisons(tests: str) -> str:
    """The tests, which parse, with each `==` of their assertions taken for floats within a relative 1e-9.

    From Python 3.12 on `sum` of floats is more exact, so that three references of MBPP Pro (36, 117 and 260)
    miss the literals of their tests by the last digit there.
    """
    module = ast.parse(tests)
    for node in ast.walk(module):
        if isinstance(node, ast.Assert):
            node.test = _Comparisons().visit(node.test)
    is_future = [isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in module.body]
    start = len(is_future) - is_future[::-1].index(True) if True in is_future else 0
    module.body[start:start] = ast.parse(_CLOSE).body
    return ast.unparse(ast.fix_missing_locations(module))


class _Comparisons(ast.NodeTransformer):
    """Replaces `a == b` by a call."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
            return node
        return ast.Call(ast.Name("_triathlon_close", ast.Load()), [node.left, *node.comparators], [])
