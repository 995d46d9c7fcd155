"""Reads and grades predictions: a value is compared with what the call returns, arguments are called with.

An output is graded as the answer to an output question. Of an input the arguments count: values as there, and
functions (`lambda x: x + 1`), which have no value and are put into the call as their checked source.
"""

import ast
from typing import Any, Final, Literal

from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import Outcome
from triathlon_runner.runtime._answer import Graded
from triathlon_runner.runtime._assertions import Filled, add_value, reading_an_answer
from triathlon_runner.runtime._expressions import (
    MAX_TEXT,
    InvalidAnswerError,
    function_source,
    holds_function,
)
from triathlon_runner.runtime._grade import grade_filled, grade_output
from triathlon_runner.runtime._masked import MASK
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.runtime._states import TYPOGRAPHIC
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.syntax import argument_tuple, parse_expression, third_party

Asked = Literal["output", "input"]
"""Which side of the assertion is masked."""

FUNCTION: Final = "f"
"""The function of every CRUXEval program."""


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
    """Executes the assertion with what an answer states.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    program, question = output_question(task)
    if asked == "output":
        return await grade_output(sandbox, program, question, answer)
    try:
        filled = fill_arguments(task, answer)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    return await grade_filled(sandbox, program, question, filled)


def fill_arguments(task: CruxevalTask, answer: str) -> Filled:
    """The assertion with the arguments that an answer states; what it says of the output does not count.

    Raises:
        InvalidAnswerError: the answer states none, or states what is no value.
    """
    with reading_an_answer():
        call, original = _stated_call(answer), _call(task.input)
        own = {ast.dump(argument) for argument in (*original.args, *(key.value for key in original.keywords))}
        values: dict[str, Any] = {}
        computed: dict[str, str] = {}

        def filled(argument: ast.expr) -> ast.expr:
            """The argument as it stands in the call that is executed."""
            if isinstance(argument, ast.Starred):
                return ast.Starred(filled(argument.value), argument.ctx)
            if ast.dump(argument) in own:
                return argument
            name = f"HOLE_{len(values) + len(computed)}_"
            if holds_function(argument):
                values[name] = ("function", function_source(argument))
            else:
                add_value(name, argument, values, computed)
            return ast.Name(name, ast.Load())

        complete = ast.Call(
            call.func,
            [filled(argument) for argument in call.args],
            [ast.keyword(keyword.arg, filled(keyword.value)) for keyword in call.keywords],
        )
        return Filled(f"assert {ast.unparse(complete)} == {task.output}", values, computed)


def _stated_call(answer: str) -> ast.Call:
    """The call with the arguments that the answer states: in `assert f(1) == 2`, `f(1) == 2`, `f(1)` or `1`.

    Raises:
        InvalidAnswerError: the answer states none.
    """
    if len(answer) > MAX_TEXT:
        raise InvalidAnswerError(f"{len(answer)} characters are no assertion")
    for text in dict.fromkeys((answer, answer.translate(TYPOGRAPHIC))):
        for part in (text, text.partition("==")[0]):
            call = _call_in(part.strip().removeprefix("assert ")) or _call_in(f"{FUNCTION}({part}\n)")
            if call is not None:
                return call
    raise InvalidAnswerError(f"the answer is neither a call of {FUNCTION!r} nor its arguments")


def _call_in(text: str) -> ast.Call | None:
    try:
        expression = parse_expression(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if isinstance(expression, ast.Compare):
        expression = expression.left
    match expression:
        case ast.Call(ast.Name(name)) if name == FUNCTION:
            return expression
    return None


def _call(arguments: str) -> ast.Call:
    call = parse_expression(f"{FUNCTION}({arguments})")
    assert isinstance(call, ast.Call)
    return call
