"""Grading predictions: a value is compared with what the call returns, arguments are tried by calling.

As in output questions, an expression of an answer is computed in a process that does not have the program,
and only its value gets into the assertion (`runtime._assertions`). Two kinds of argument have no such value
and stay in the call: functions (`lambda x: x + 1`), and what the data set itself passes.
"""

import ast
from collections.abc import Iterator

from triathlon_runner.records import Outcome
from triathlon_runner.runtime._assertions import (
    Filled,
    InvalidAnswerError,
    check_value_expression,
    reading_an_answer,
)
from triathlon_runner.runtime._check import Assertion, NoValueError, check_assertions, compute_values
from triathlon_runner.runtime._grade import Graded, grade_output, graded_problem
from triathlon_runner.runtime._reading import is_plain
from triathlon_runner.runtime._trace import FunctionRun
from triathlon_runner.runtime.prediction._answer import arguments_call, as_output_assertion
from triathlon_runner.runtime.prediction._task import FUNCTION, Asked, PredictionTask
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.syntax import parse, parse_expression


async def grade_prediction(sandbox: Sandbox, task: PredictionTask, asked: Asked, answer: str) -> Graded:
    """Executes the assertion that an answer completes.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    grade = _grade_output if asked == "output" else _grade_input
    try:
        return await grade(sandbox, task, answer)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))


async def _grade_output(sandbox: Sandbox, task: PredictionTask, answer: str) -> Graded:
    program, question = task.output_question()
    with reading_an_answer():
        assertion = as_output_assertion(answer, question.text)
    return await grade_output(sandbox, program, question, assertion)


async def _grade_input(sandbox: Sandbox, task: PredictionTask, answer: str) -> Graded:
    filled = fill_arguments(task, answer)
    try:
        values = await compute_values(sandbox, filled, task.libraries)
    except NoValueError as error:
        return graded_problem(error.problem)
    run = FunctionRun(FUNCTION, "()")  # only whether it is a test matters here
    asked = [Assertion(run, filled.text, values)]
    (problem,) = await check_assertions(sandbox, task.program, asked, task.libraries)
    return graded_problem(problem)


def fill_arguments(task: PredictionTask, answer: str) -> Filled:
    """The assertion with the arguments that an answer gives, safe to execute in the sandbox.

    Raises:
        InvalidAnswerError: the answer gives none, or holds what is no value.
    """
    with reading_an_answer():
        call = arguments_call(answer, task.output)
        arguments = _Arguments(task)
        filled = ast.Call(
            call.func,
            [arguments.filled(argument) for argument in call.args],
            [ast.keyword(keyword.arg, arguments.filled(keyword.value)) for keyword in call.keywords],
        )
        return Filled(f"assert {ast.unparse(filled)} == {task.output}", arguments.computed)


class _Arguments:
    """Puts names in place of the arguments whose values are to be computed."""

    def __init__(self, task: PredictionTask) -> None:
        self.computed: dict[str, str] = {}
        """By name, the expression."""
        self._program = parse(task.program)
        self._originals = {ast.dump(argument) for argument in _original_arguments(task.input)}

    def filled(self, argument: ast.expr) -> ast.expr:
        """The argument as it stands in the call that is executed.

        Raises:
            InvalidAnswerError: it holds what is no value.
        """
        if isinstance(argument, ast.Starred):
            return ast.Starred(self.filled(argument.value), argument.ctx)
        if is_plain(argument) or ast.dump(argument) in self._originals:
            return argument
        check_value_expression(argument, self._program)
        if any(isinstance(node, ast.Lambda) for node in ast.walk(argument)):
            return argument
        name = f"HOLE_{len(self.computed)}_"
        self.computed[name] = ast.unparse(argument)
        return ast.Name(name, ast.Load())


def _original_arguments(source: str) -> Iterator[ast.expr]:
    """The arguments that the data set itself passes."""
    call = parse_expression(f"{FUNCTION}({source}\n)")
    assert isinstance(call, ast.Call)
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)
