"""Grades output questions and predictions: what an answer states is put into the question's own test.

An answer is right if what it states for each mask, in order, is right, in whatever form it states it. So it
is read, not executed; the question's own test, completed with what it states, is executed with the program.
Where a call is masked instead of a value, a call or attribute chain on the test's own names may stand there.

What executes here raises SandboxError where the sandbox itself failed.
"""

import ast
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal

from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import AnswerRecord, Outcome
from triathlon_runner.runtime._answers import TYPOGRAPHIC, Graded
from triathlon_runner.runtime._expressions import (
    CONSTANTS,
    FUNCTIONS,
    METHODS_OF_FUNCTIONS,
    NOT_READ,
    InvalidAnswerError,
    checked_source,
    names_in,
    stated_value,
    with_computed,
)
from triathlon_runner.runtime._masked import (
    MASK,
    Definitions,
    Masked,
    argument_values,
    assignment,
    claims,
    filled,
    hole_name,
    hole_of,
    holes_in,
    is_assertion,
    is_value,
    match_trees,
    replaced,
    without_self,
)
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.runtime._sandboxed import run_calls
from triathlon_runner.runtime._sandboxed.programs import MAX_TEXT
from triathlon_runner.sandbox import Call, Ended, Execution, Raised, Returned, Sandbox
from triathlon_runner.syntax import argument_tuple, parse, parse_expression, third_party

_STUB: Final = "STUB_"
"""A call of this name, in a test that is executed, lets the program give one value from there on."""
_STUBS: Final = tuple(product((None, True, 0, "stub", 12345.75), (False, True)))
"""What all calls give in programs that do nothing, and whether attributes give it, too. With each of them an
answer's call has to fail the test where the question's own does."""
_MOST_STATEMENTS: Final = 200  # Of an answer; the longest test has a few dozen


@dataclass(frozen=True, slots=True)
class Filled:
    """The question's own test with what an answer states, and what has to be computed for it first."""

    text: str  # With a name `HOLE_<n>_` in the place of each value
    values: Mapping[str, Any]  # By that name, what `_expressions.stated_value` reads
    stubbed: tuple[tuple[str, str], ...] = ()
    """For each masked call that the answer fills with another one, the beginning of the test, a call of
    `_STUB`, and the assertion: with the question's own call, and with the answer's."""


# Reading answers


def fill(question: Masked, answer: str) -> Filled:
    """Returns the question's own test with what an answer states for its masks.

    Raises:
        InvalidAnswerError: the answer does not state what was asked, or says something else.
        SyntaxError, ValueError, MemoryError, RecursionError: it does not parse (`NOT_READ`).
    """
    body = without_self(parse(answer)).body
    if len(body) > _MOST_STATEMENTS:
        raise InvalidAnswerError(f"the answer has {len(body)} statements, more than {_MOST_STATEMENTS}")
    known = dict(question.known)
    shown = [*question.before.body, *question.template.body]
    repeatable = {ast.dump(statement) for statement in shown if not holes_in(statement)}
    stated: dict[int, ast.expr] = {}
    further: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom) or ast.dump(statement) in repeatable:
            continue
        # What is stated comes in the order of the masks.
        name, value = assignment(statement) or ("", ast.Constant(None))
        if found := _stated_in(statement, question, known, max(stated, default=-1) + 1):
            stated.update(found)
        elif name and name not in question.names | question.defined:
            known[name] = replaced(value, known)  # a name that the answer introduces
        elif _is_further(statement, question):
            further.append(statement)
        else:
            raise InvalidAnswerError("the answer makes a statement that the question does not have")
    return _completed(question, known, stated, further)


def _stated_in(
    statement: ast.stmt, question: Masked, known: Definitions, first: int
) -> Mapping[int, ast.expr] | None:
    """What a statement states for masks from this one on, by their numbers; None where it states nothing."""
    for expected in question.template.body:  # as it stands in the test
        holes = holes_in(expected)
        if holes and holes[0] >= first and (fillings := match_trees(expected, statement)):
            return fillings
    name, value = assignment(statement) or ("", ast.Constant(None))
    is_given = name in known and is_value(known[name], known)
    parts = [(hole, part) for hole, part in question.parts if hole >= first]
    made = list(_claims_in(statement))
    for hole, asked in ((hole, claim) for hole, part in parts for claim in claims(part)):
        if filling := next(filter(None, (_filling(hole, asked, claim, known) for claim in made)), None):
            return {hole: filling}  # in another form
        subject, masked = asked
        if isinstance(subject, ast.Name) and subject.id == name and hole_of(masked) == hole and not is_given:
            # `result = 3` for an assertion on `result`, which the program computes
            return {hole: value} if is_value(value, known) else None
    if not parts or not isinstance(statement, ast.Expr) or is_assertion(statement.value):
        return None
    hole, alone = parts[0][0], statement.value  # the value alone, or the call where that is masked
    is_stated = question.is_chain(alone) if hole in question.masked_calls else is_value(alone, known)
    return {hole: alone} if is_stated else None


_Claim = tuple[ast.expr, ast.expr]
"""That a subject has a value."""


def _claims_in(statement: ast.stmt) -> Iterator[_Claim]:
    match statement:
        case ast.Assert(part):
            yield from claims(part)
        case ast.Expr(ast.Tuple([subject, value])):
            yield subject, value
        case ast.Expr(part) if is_assertion(part) or isinstance(part, ast.Compare):
            yield from claims(part)


def _filling(hole: int, expected: _Claim, made: _Claim, known: Definitions) -> ast.expr | None:
    """What a claim of the answer has in the place of the mask; None where it claims something else."""
    (subject, value), (made_subject, made_value) = expected, made
    if hole_of(value) == hole:
        return made_value if _text(subject, known) == _text(made_subject, known) else None
    if _text(value, known) != _text(made_value, known):
        return None
    return (match_trees(_without_bool(subject), _without_bool(made_subject)) or {}).get(hole)


def _text(node: ast.expr, known: Definitions) -> str:
    """An expression as text in which names are what they stand for."""
    return ast.dump(_without_bool(replaced(_without_bool(node), known)))


def _without_bool(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(ast.Name("bool"), [inner], []):
            return inner
    return node


def _is_further(statement: ast.stmt, question: Masked) -> bool:
    """Whether it is a further assertion of calls and values, which has to hold after the test."""
    match statement:
        case ast.Assert(part):
            return question.is_reading(part)
        case ast.Expr(ast.Call(ast.Name(name)) as call) if is_assertion(call):
            return hasattr(unittest.TestCase, name) and all(map(question.is_reading, argument_values(call)))
    return False


def _completed(
    question: Masked, known: Definitions, stated: Mapping[int, ast.expr], further: Sequence[ast.stmt]
) -> Filled:
    """The completed test; InvalidAnswerError where a mask has nothing, or not what was asked."""
    in_test = holes_in(question.template)
    if missing := [hole for hole in in_test if hole not in stated]:
        raise InvalidAnswerError(f"the answer states nothing for mask {missing[0] + 1} of {len(in_test)}")
    fillings: dict[int, ast.expr] = {}
    values: dict[str, Any] = {}
    chains: list[int] = []
    for hole, filling in sorted(stated.items()):
        original = question.original_trees[hole] if hole < len(question.originals) else None
        whole = replaced(filling, known)
        if original and ast.dump(whole) == ast.dump(replaced(original, question.known)):
            fillings[hole] = original
        elif holes_in(filling) or ast.dump(ast.Constant(MASK)) in ast.dump(filling):
            raise InvalidAnswerError("the answer leaves a mask in")
        elif hole not in question.masked_calls:
            fillings[hole] = ast.Name(hole_name(hole), ast.Load())
            try:
                values[hole_name(hole)] = stated_value(whole)
            except InvalidAnswerError as error:
                if names_in(whole).isdisjoint(question.names | question.defined):
                    raise
                why = "the answer reads the value off the program instead of giving it"
                raise InvalidAnswerError(why) from error
        elif question.is_chain(filling):
            fillings[hole] = filling
            chains.append(hole)
        else:
            raise InvalidAnswerError("a call was masked, and no call on the test's names fills its place")
    text = "\n".join([question.completed(fillings), *map(ast.unparse, further)])
    stubbed = []
    for hole in chains:
        body = question.template.body
        index = next(i for i, statement in enumerate(body) if hole in holes_in(statement))
        beginning = ast.Module([*body[:index], *parse(f"{_STUB}()").body, body[index]], [])
        own = {**fillings, hole: question.original_trees[hole]}
        stubbed.append((ast.unparse(filled(beginning, own)), ast.unparse(filled(beginning, fillings))))
    return Filled(text, values, tuple(stubbed))


# Grading


async def grade_output(
    sandbox: Sandbox,
    program: ProgramQuestions,
    asked: InputQuestions,
    answer: str,
    read: Callable[[Masked, str], Filled] = fill,
) -> Graded:
    """Reads what an answer states, computes what it leaves to compute, and executes the completed test.

    An answer that cannot be read is read again with Python's quotes in place of typographic ones.
    """
    question, completed, why = program.masked_test(asked), None, ""
    for text in dict.fromkeys((answer, answer.translate(TYPOGRAPHIC))):
        try:
            if len(text) > MAX_TEXT:
                raise InvalidAnswerError(f"{len(text)} characters are no assertion")
            completed = read(question, text)
            break
        except InvalidAnswerError as error:
            why = str(error)
        except NOT_READ as error:
            why = f"the answer does not parse: {error}"
    if completed is None:
        return Graded(Outcome.FAILED, why)
    try:
        values = await with_computed(sandbox, completed.values, frozenset(program.libraries))
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    if not isinstance(values, dict):
        return _graded(_problem(values))
    (problem,) = await check_assertions(sandbox, program, [(asked, completed.text, values)])
    for own, answered in completed.stubbed if not problem else ():
        stubs = [{**values, _STUB: ("stub", *stub)} for stub in _STUBS]
        tests = [(asked, text, stub) for stub in stubs for text in (own, answered)]
        problems = await check_assertions(sandbox, program, tests)
        failing = [
            of_answer for of_own, of_answer in zip(problems[::2], problems[1::2], strict=True) if of_own
        ]
        if not failing or not all(failing):
            return Graded(Outcome.FAILED, "with the answer's call other programs pass the test, too")
    return _graded(problem)


def _graded(problem: str) -> Graded:
    if not problem:
        return Graded(Outcome.PASSED)
    if problem.startswith(Ended.TIMED_OUT.value):
        return Graded(Outcome.TIMED_OUT, problem)
    return Graded(Outcome.FAILED if problem.startswith("AssertionError") else Outcome.CRASHED, problem)


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


async def with_authors_rule(
    sandbox: Sandbox, program: ProgramQuestions, asked: InputQuestions, record: AnswerRecord
) -> AnswerRecord:
    """Returns an output's answer with the verdict of REval's authors; without an answer it stays as it is.

    It needs as many `assert` as the question, and has to run through: it is executed as it stands, as a
    program that a model wrote is.
    """
    if record.answer is None:
        return record
    right = record.answer.count("assert") >= asked.masked.count("assert")
    if right:
        (problem,) = await check_assertions(sandbox, program, [(asked, record.answer, {})])
        right = not problem
    if right == record.correct:
        return record
    why = "" if right else "by the rule of REval's authors: assertions are missing, or the test fails"
    outcome = Outcome.PASSED if right else Outcome.FAILED
    return record.model_copy(update={"correct": right, "outcome": outcome, "why": why})


# Predictions on CRUXEval: one call of a small program, of which a side is masked

Side = Literal["output", "input"]  # Which side of the assertion is masked
FUNCTION: Final = "f"  # The function of every CRUXEval program


def masked_assertion(task: CruxevalTask, side: Side) -> str:
    """The assertion with `??` in place of what is asked for."""
    if side == "output":
        return f"assert {FUNCTION}({task.input}) == {MASK}"
    return f"assert {FUNCTION}({MASK}) == {task.output}"


async def grade_prediction(sandbox: Sandbox, task: CruxevalTask, side: Side, answer: str) -> Graded:
    """Grades an output as an answer to an output question, an input by the arguments that it states."""
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
    read = fill if side == "output" else read_arguments
    return await grade_output(sandbox, program, asked, answer, read)


def read_arguments(question: Masked, answer: str) -> Filled:
    """The assertion with the arguments that an answer states; what it says of the output does not count.

    Raises:
        InvalidAnswerError: the answer states none, or states what is no value.
    """
    values: dict[str, Any] = {}

    def read(argument: ast.expr) -> ast.expr:
        """The argument as it stands in the call that is executed."""
        if isinstance(argument, ast.Starred):
            return ast.Starred(read(argument.value), argument.ctx)
        if ast.dump(argument) in own:
            return argument
        name = hole_name(len(values))
        if _holds_function(argument):
            values[name] = ("function", checked_source(argument, METHODS_OF_FUNCTIONS))
        else:
            values[name] = stated_value(argument)
        return ast.Name(name, ast.Load())

    parts = (answer, answer.partition("==")[0])
    stated = (_call_in(part) or _call_in(f"{FUNCTION}({part}\n)") for part in parts)
    call = next(filter(None, stated), None)
    if call is None:
        raise InvalidAnswerError(f"the answer is neither a call of {FUNCTION!r} nor its arguments")
    original = _call_in(question.text.rpartition(f" == {MASK}")[0])
    assert original is not None
    own = {ast.dump(argument) for argument in argument_values(original)}
    arguments = [read(argument) for argument in call.args]
    keywords = [ast.keyword(keyword.arg, read(keyword.value)) for keyword in call.keywords]
    complete = ast.unparse(ast.Call(call.func, arguments, keywords))
    return Filled(f"assert {complete} == {question.originals[0]}", values)


def _holds_function(node: ast.expr) -> bool:
    """Whether an argument is a function, or a collection with one in it."""
    match node:
        case ast.Lambda() | ast.Attribute(ast.Name("list" | "str" | "dict" | "set")):
            return True
        case ast.Name(name):
            return name in FUNCTIONS - CONSTANTS
        case ast.List(items) | ast.Tuple(items) | ast.Set(items) | ast.Dict(values=items):
            return any(map(_holds_function, items))
    return False


def _call_in(text: str) -> ast.Call | None:
    """The call in `assert f(1) == 2`, `f(1) == 2` or `f(1)`; None of other texts."""
    try:
        expression = parse_expression(text.strip().removeprefix("assert "))
    except NOT_READ:
        return None
    if isinstance(expression, ast.Compare):
        expression = expression.left
    match expression:
        case ast.Call(ast.Name(name)) if name == FUNCTION:
            return expression
    return None
