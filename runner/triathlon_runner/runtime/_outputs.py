"""Grades what answers state for the masks of a test: executes the completed test with the program."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, Final

from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import AnswerRecord, Outcome
from triathlon_runner.replies import code_blocks
from triathlon_runner.runtime._assertions import STUB, Filled, StubCheck, fill, refuse_growth
from triathlon_runner.runtime._expressions import (
    METHODS_OF_FUNCTIONS,
    InvalidAnswerError,
    checked_source,
    holds_function,
    plain_value,
    reading,
    stated_value,
)
from triathlon_runner.runtime._grade import TYPOGRAPHIC, Graded, unwrapped
from triathlon_runner.runtime._literals import CLASS
from triathlon_runner.runtime._masked import (
    MASK,
    Masked,
    assignment,
    definitions,
    hole_name,
    replaced,
)
from triathlon_runner.runtime._programs import FUNCTION, Side, output_question
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.runtime._sandboxed import run_calls
from triathlon_runner.runtime._sandboxed.literal import MAX_TEXT
from triathlon_runner.sandbox import Call, Ended, Execution, Raised, Returned, Sandbox
from triathlon_runner.syntax import parse, parse_expression

_STUBS: Final = tuple(product((None, True, 0, "stub", 12345.75), (False, True)))
"""What all calls give in programs that do nothing, and whether attributes give it, too. With each of them an
answer's call has to fail the test where the question's own does."""
_MASK_BEFORE: Final = re.compile(r"^`?\?\?`? ?==? ?", re.MULTILINE)
"""A mask that an answer repeats in front of its value."""


def read_answer(question: Masked, answer: str, read: Callable[[Masked, str], Filled] = fill) -> Filled:
    """The test with what an answer states for its masks.

    Where it cannot be read as it stands, it is read with Python's quotes for typographic ones, then also
    without bold type around it, with `list` for the `<class 'list'>` of a `repr`, without masks in front of
    values (`?? = 3`), and its only code block; at last without the program, which it may repeat.

    Raises:
        InvalidAnswerError: it does not state what was asked, or says something else.
    """
    plain = answer.translate(TYPOGRAPHIC)
    bare = _MASK_BEFORE.sub("", unwrapped(plain) if plain.startswith("**") else plain)
    blocks = code_blocks(plain) if "```" in plain and len(plain) <= MAX_TEXT else []
    in_block = [blocks[0].code] if len(blocks) == 1 else []
    forms = [answer, plain, CLASS.sub(r"\1", bare), *in_block]
    behind_program = forms[-1].replace(f"{question.program.strip()}\n", "").lstrip("\n")
    *forms, last = dict.fromkeys([*forms, behind_program])
    for form in forms:
        with suppress(InvalidAnswerError):
            return read(question, form)
    return read(question, last)


async def grade_output(
    sandbox: Sandbox,
    program: ProgramQuestions,
    asked: InputQuestions,
    answer: str,
    read: Callable[[Masked, str], Filled] = fill,
) -> Graded:
    """Reads what an answer states, computes what it leaves to compute, and executes the completed test."""
    try:
        filled = read_answer(program.masked_test(asked), answer, read)
        values = await _computed(sandbox, filled.values, frozenset(program.libraries))
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    if isinstance(values, Graded):
        return values
    (problem,) = await check_assertions(sandbox, program, [(asked, filled.text, values)])
    if not problem:
        for check in filled.stub_checks:
            if not await _decides(sandbox, program, asked, check, values):
                return Graded(Outcome.FAILED, "with the answer's call other programs pass the test, too")
    return _graded(problem)


async def _decides(
    sandbox: Sandbox,
    program: ProgramQuestions,
    asked: InputQuestions,
    check: StubCheck,
    values: Mapping[str, Any],
) -> bool:
    """Whether the call in the place of a masked one fails the test in programs where that one does."""
    stubs = [{**values, STUB: ("stub", *stub)} for stub in _STUBS]
    tests = [(asked, text, stub) for text in (check.own, check.answered) for stub in stubs]
    *problems, other_type = await check_assertions(
        sandbox, program, [*tests, (asked, check.same_type, values)]
    )
    own, answered = problems[: len(stubs)], problems[len(stubs) :]
    if not any(own):
        return not other_type
    return all(of_answer for of_own, of_answer in zip(own, answered, strict=True) if of_own)


def _graded(problem: str) -> Graded:
    if not problem:
        return Graded(Outcome.PASSED)
    if problem.startswith(Ended.TIMED_OUT.value):
        return Graded(Outcome.TIMED_OUT, problem)
    return Graded(Outcome.FAILED if problem.startswith("AssertionError") else Outcome.CRASHED, problem)


def by_authors_rule(record: AnswerRecord, *, right: bool) -> AnswerRecord:
    """Returns an output's answer with the verdict of REval's authors; without an answer it stays as it is."""
    if record.answer is None or right == record.correct:
        return record
    why = "" if right else "by the rule of REval's authors: assertions are missing, or the test fails"
    outcome = Outcome.PASSED if right else Outcome.FAILED
    return record.model_copy(update={"correct": right, "outcome": outcome, "why": why})


async def passes_by_authors(
    sandbox: Sandbox, program: ProgramQuestions, asked: InputQuestions, answer: str
) -> bool:
    """Whether an answer is right by the rule of REval's authors.

    It needs as many `assert` as the question, and has to run through: it is executed as it stands, as a
    program that a model wrote is.
    """
    if answer.count("assert") < asked.masked.count("assert"):
        return False
    (problem,) = await check_assertions(sandbox, program, [(asked, answer, {})])
    return not problem


# Predictions on CRUXEval: of an output as above; of an input the arguments count


async def grade_prediction(sandbox: Sandbox, task: CruxevalTask, side: Side, answer: str) -> Graded:
    """Executes the assertion with what an answer states."""
    read = fill if side == "output" else read_arguments
    return await grade_output(sandbox, *output_question(task), answer, read)


def read_arguments(question: Masked, answer: str) -> Filled:
    """The assertion with the arguments that an answer states; what it says of the output does not count.

    Raises:
        InvalidAnswerError: the answer states none, or states what is no value.
    """
    values: dict[str, Any] = {}

    def filled(argument: ast.expr) -> ast.expr:
        """The argument as it stands in the call that is executed."""
        if isinstance(argument, ast.Starred):
            return ast.Starred(filled(argument.value), argument.ctx)
        if ast.dump(argument) in own:
            return argument
        name = hole_name(len(values))
        if holds_function(argument):
            values[name] = ("function", checked_source(argument, METHODS_OF_FUNCTIONS))
        else:
            values[name] = stated_value(argument)
        return ast.Name(name, ast.Load())

    with reading(answer):
        parts = (answer, answer.partition("==")[0], answer.partition("\n\n")[0])
        stated = (_call_in(part) or _call_in(f"{FUNCTION}({part}\n)") for part in parts)
        call = next(filter(None, stated), None)
        if call is None:
            raise InvalidAnswerError(f"the answer is neither a call of {FUNCTION!r} nor its arguments")
        original = _call_in(question.text.rpartition(f" == {MASK}")[0])
        assert original is not None
        own = {ast.dump(argument) for argument in (*original.args, *(key.value for key in original.keywords))}
        arguments = [filled(argument) for argument in call.args]
        keywords = [ast.keyword(keyword.arg, filled(keyword.value)) for keyword in call.keywords]
        complete = ast.unparse(ast.Call(call.func, arguments, keywords))
        return Filled(f"assert {complete} == {question.originals[0]}", values)


def _call_in(text: str) -> ast.Call | None:
    """The call in `assert f(1) == 2`, `2 == f(1)`, `assert not f(1)` or `f(1)`; None of other texts.

    Assignments may stand in front: their names are replaced by what they stand for.
    """
    try:
        *before, statement = parse(text.strip()).body or [ast.Pass()]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if before:
        refuse_growth([*before, statement], {})
        is_own = all(map(assignment, before))
        statement = replaced(statement, definitions(before)) if is_own else ast.Pass()
    match statement:
        case ast.Assert(expression) | ast.Expr(expression):
            sides = [expression]
        case _:
            return None
    if isinstance(expression, ast.Compare):
        sides = [expression.left, *(expression.comparators if isinstance(expression.ops[0], ast.Eq) else [])]
    for side in sides:
        match side:
            case (ast.Call() as call) | ast.UnaryOp(ast.Not(), ast.Call() as call):
                if isinstance(call.func, ast.Name) and call.func.id == FUNCTION:
                    return call
    return None


# In the sandbox


async def _computed(
    sandbox: Sandbox, values: Mapping[str, Any], libraries: frozenset[str]
) -> dict[str, Any] | Graded:
    """Values with the plain data of those that have to be computed; no program is there.

    A verdict where an expression raises, or takes too long.

    Raises:
        InvalidAnswerError: what it comes to is no plain value.
    """
    sources = {
        name: value[1] for name, value in values.items() if isinstance(value, tuple) and value[0] == "compute"
    }
    calls = [Call("compute", (source,)) for source in sources.values()]
    results = await run_calls(sandbox, "programs", calls, libraries & {"numpy"}, restart=False)
    computed = dict(values)
    for name, result in zip(sources, results, strict=False):
        match result:
            case Returned(str(text)):
                with reading(text):  # the child is trusted no more than the answer
                    computed[name] = plain_value(parse_expression(text))
            case Raised("NoLiteralFormError", why):
                raise InvalidAnswerError(f"what is stated is no plain value: {why}")
            case _:
                return _graded(_problem(result))
    return computed


async def check_assertions(
    sandbox: Sandbox,
    program: ProgramQuestions,
    tests: Sequence[tuple[InputQuestions, str, Mapping[str, Any]]],
) -> list[str]:
    """Returns for each test why it failed, or an empty text. The program is loaded anew for each.

    A test is the input whose set-up runs first, the completed text, and the names in it that stand for
    values, with the plain data of these.
    """
    calls = [
        Call("check", (program.program, program.run_of(asked), text, dict(values)))
        for asked, text, values in tests
    ]
    results = await run_calls(sandbox, "programs", calls, frozenset(program.libraries))
    return [_problem(result) for result in results]


def _problem(result: Returned | Raised | Execution) -> str:
    """What a call says in words; a half of a surrogate pair, which UTF-8 cannot encode, is `\\ud800`."""
    if isinstance(result, Execution):
        problem = f"{result.ended.value}: {result.detail}"
    elif isinstance(result, Raised):
        problem = str(result)
    else:
        problem = result.value if isinstance(result.value, str) else "not a verdict"
    return problem.encode("utf-8", "backslashreplace").decode("utf-8")
