"""Reads and grades predictions: a value is compared with what the call returns, arguments are called with.

As in output questions, an expression of an answer is computed in a process that does not have the program,
and only its value gets into the assertion (`runtime._assertions`). Two kinds of argument have no such value
and stay in the call: functions (`lambda x: x + 1`), and what the data set itself passes.
"""

import ast
from typing import Final, Literal

from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import Outcome
from triathlon_runner.runtime._answer import Graded
from triathlon_runner.runtime._assertions import MASK, MAX_ANSWER, Filled, is_same, reading_an_answer
from triathlon_runner.runtime._fillings import InvalidAnswerError, check_value_expression, is_plain
from triathlon_runner.runtime._grade import grade_filled, grade_output
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.runtime._states import TYPOGRAPHIC
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.syntax import argument_tuple, parse, parse_expression, third_party

Asked = Literal["output", "input"]
"""Which side of the assertion is masked."""

FUNCTION: Final = "f"
"""The function of every CRUXEval program."""
_UNREADABLE: Final = (SyntaxError, ValueError, MemoryError, RecursionError)


def masked_assertion(task: CruxevalTask, asked: Asked) -> str:
    """The assertion with `??` in place of what is asked for."""
    if asked == "output":
        return f"assert {FUNCTION}({task.input}) == {MASK}"
    return f"assert {FUNCTION}({MASK}) == {task.output}"


def output_question(task: CruxevalTask) -> tuple[ProgramQuestions, InputQuestions]:
    """The program and its masked output as an output question, to be graded as those are."""
    asked = InputQuestions(
        index=0,
        text=f"{FUNCTION}({task.input})",
        arguments=argument_tuple(task.input),
        masked=masked_assertion(task, "output"),
        originals=(task.output,),
        statements=(),
    )
    program = ProgramQuestions(
        task_id=task.task_id,
        program=task.program,
        entry_point=FUNCTION,
        libraries=tuple(sorted(third_party(task.program))),
        inputs=(asked,),
    )
    return program, asked


async def grade_prediction(sandbox: Sandbox, task: CruxevalTask, asked: Asked, answer: str) -> Graded:
    """Executes the assertion that an answer completes.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    program, question = output_question(task)
    try:
        if asked == "input":
            return await grade_filled(sandbox, program, question, fill_arguments(task, answer))
        with reading_an_answer():
            assertion = as_output_assertion(answer, question.text)
        return await grade_output(sandbox, program, question, assertion)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))


def as_output_assertion(answer: str, call: str) -> str:
    """The answer as an assertion: the one that it gives, or one about `call` with the value that it gives.

    Args:
        answer: `assert f(1) == 2`, `f(1) == 2` or `2`.
        call: `f(1)`.

    Raises:
        InvalidAnswerError: the answer is no Python expression or assertion.
    """
    expression = _expression_or_test(answer)
    if isinstance(expression, ast.Compare) and _calls_function(expression.left):
        return f"assert {ast.unparse(expression)}"
    return f"assert {call} == ({ast.unparse(expression)})"


def fill_arguments(task: CruxevalTask, answer: str) -> Filled:
    """The assertion with the arguments that an answer gives, safe to execute in the sandbox.

    Raises:
        InvalidAnswerError: the answer gives none, or holds what is no value.
    """
    with reading_an_answer():
        call = _arguments_call(answer, task.output)
        program, originals = parse(task.program), _call_with(task.input)
        own = {
            ast.dump(argument) for argument in (*originals.args, *(key.value for key in originals.keywords))
        }
        computed: dict[str, str] = {}

        def filled(argument: ast.expr) -> ast.expr:
            """The argument as it stands in the call that is executed."""
            if isinstance(argument, ast.Starred):
                return ast.Starred(filled(argument.value), argument.ctx)
            if is_plain(argument) or ast.dump(argument) in own:
                return argument
            check_value_expression(argument, program)
            if any(isinstance(node, ast.Lambda) for node in ast.walk(argument)):
                return argument
            name = f"HOLE_{len(computed)}_"
            computed[name] = ast.unparse(argument)
            return ast.Name(name, ast.Load())

        complete = ast.Call(
            call.func,
            [filled(argument) for argument in call.args],
            [ast.keyword(keyword.arg, filled(keyword.value)) for keyword in call.keywords],
        )
        return Filled(f"assert {ast.unparse(complete)} == {task.output}", computed)


def _arguments_call(answer: str, output: str) -> ast.Call:
    """The call whose arguments the answer gives.

    Args:
        answer: `assert f(1) == 2`, `f(1) == 2`, `f(1)` or `1`.
        output: The right side of the assertion that was asked about.

    Raises:
        InvalidAnswerError: the answer holds no call of `f`, or is about another value.
    """
    _refuse_long(answer)
    expression: ast.expr | None
    try:
        expression = _expression_or_test(answer)
    except InvalidAnswerError:
        expression = None  # `1, key=2` is no expression
    if isinstance(expression, ast.Compare) and _calls_function(expression.left):
        match expression:
            case ast.Compare(left, [ast.Eq()], [right]) if is_same(right, output):
                expression = left
            case _:
                raise InvalidAnswerError("the answer is another statement than the question's")
    if isinstance(expression, ast.Call) and _calls_function(expression):
        return expression
    return _call_with(answer)


def _call_with(arguments: str) -> ast.Call:
    for text in (arguments, arguments.translate(TYPOGRAPHIC)):
        try:
            call = parse_expression(f"{FUNCTION}({text}\n)")
        except _UNREADABLE:
            continue
        if isinstance(call, ast.Call) and _calls_function(call):
            return call
    raise InvalidAnswerError(f"the answer is neither a call of {FUNCTION!r} nor its arguments")


def _expression_or_test(answer: str) -> ast.expr:
    """The one expression of the answer; of an assertion what it asserts."""
    _refuse_long(answer)
    problem = ""
    for text in (answer, answer.translate(TYPOGRAPHIC)):
        try:
            body = parse(text.strip()).body
        except _UNREADABLE as error:
            problem = problem or f"the answer does not parse: {error}"
            continue
        match body:
            case [ast.Assert(test, None)] | [ast.Expr(test)]:
                return test
        raise InvalidAnswerError("the answer holds statements that the question does not have")
    raise InvalidAnswerError(problem)


def _refuse_long(answer: str) -> None:
    if len(answer) > MAX_ANSWER:
        raise InvalidAnswerError(f"{len(answer)} characters are no assertion")


def _calls_function(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == FUNCTION
