"""Grades what answers state for the masks of a test: executes the completed test with the program."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

from triathlon_runner.records import AnswerRecord, Outcome
from triathlon_runner.runtime._answer import TYPOGRAPHIC, Graded
from triathlon_runner.runtime._assertions import STUB, Filled, StubCheck, fill
from triathlon_runner.runtime._claims import MaskedTest
from triathlon_runner.runtime._expressions import InvalidAnswerError, plain_value
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.runtime._sandboxed import run_calls
from triathlon_runner.sandbox import Call, Ended, Execution, Raised, Returned, Sandbox
from triathlon_runner.syntax import parse_expression


async def grade_output(
    sandbox: Sandbox, program: ProgramQuestions, asked: InputQuestions, answer: str
) -> Graded:
    """Executes the completed assertion.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    try:
        filled = read_answer(program, asked, answer)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    return await grade_filled(sandbox, program, asked, filled)


def masked_test(program: ProgramQuestions, asked: InputQuestions) -> MaskedTest:
    """The output question of an input, as answers to it are read."""
    return MaskedTest(asked.assertion, program.program, asked.setup)


def read_answer(program: ProgramQuestions, asked: InputQuestions, answer: str) -> Filled:
    """The test with what an answer states for its masks.

    Raises:
        InvalidAnswerError: it does not state what was asked, or says something else.
    """
    question = masked_test(program, asked)
    try:
        return fill(question, answer)
    except InvalidAnswerError:
        plain = answer.translate(TYPOGRAPHIC)
        if plain == answer:
            raise
        return fill(question, plain)


async def grade_filled(
    sandbox: Sandbox, program: ProgramQuestions, asked: InputQuestions, filled: Filled
) -> Graded:
    """Computes what a filled test leaves to compute, and executes it with the program.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    libraries = frozenset(program.libraries)
    try:
        values = await _computed(sandbox, filled.values, libraries)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    except _NoValueError as error:
        return _graded(str(error))
    run = program.run_of(asked)
    (problem,) = await check_assertions(sandbox, program.program, [(run, filled.text, values)], libraries)
    if problem or not filled.stub_checks:
        return _graded(problem)
    for check in filled.stub_checks:
        if not await _decides(sandbox, program, run, check, values):
            return Graded(Outcome.FAILED, "with the answer's call other programs pass the test, too")
    return Graded(Outcome.PASSED)


async def _decides(
    sandbox: Sandbox,
    program: ProgramQuestions,
    run: Mapping[str, str],
    check: StubCheck,
    values: Mapping[str, Any],
) -> bool:
    """Whether the call in the place of a masked one fails the test in programs where that one does."""
    tests = [
        (run, text, {**values, STUB: ("stub", *stub)})
        for stub in _STUBS
        for text in (check.own, check.answered)
    ]
    libraries = frozenset(program.libraries)
    tests.append((run, check.same_type, dict(values)))
    *problems, other_type = await check_assertions(sandbox, program.program, tests, libraries)
    own, answered = problems[::2], problems[1::2]
    if not any(own):
        return not other_type
    return all(of_answer for of_own, of_answer in zip(own, answered, strict=True) if of_own)


_STUBS: Final = tuple(product((None, True, 0, "stub", 12345.75), (False, True)))
"""What all calls give in programs that do nothing, and whether attributes give it, too. With each of them an
answer's call has to fail the test where the question's own does."""


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

    Raises:
        SandboxError: the sandbox itself failed.
    """
    if answer.count("assert") < asked.masked.count("assert"):
        return False
    test = (program.run_of(asked), answer, dict[str, Any]())
    (problem,) = await check_assertions(sandbox, program.program, [test], frozenset(program.libraries))
    return not problem


# In the sandbox


class _NoValueError(Exception):
    """An expression has no value; the message has the form of a result of `check_assertions`."""


async def _computed(sandbox: Sandbox, values: Mapping[str, Any], libraries: frozenset[str]) -> dict[str, Any]:
    """Values with the plain data of those that have to be computed; no program is there.

    Raises:
        _NoValueError: an expression raises, or takes too long.
        InvalidAnswerError: what it comes to is no plain value.
        SandboxError: the sandbox itself failed.
    """
    sources = {name: value[1] for name, value in values.items() if _is_to_compute(value)}
    calls = [Call("compute", (source,)) for source in sources.values()]
    results = await run_calls(sandbox, "programs", calls, libraries & {"numpy"}, restart=False)
    computed = dict(values)
    for name, result in zip(sources, results, strict=False):
        if not isinstance(result, Returned):
            raise _NoValueError(_problem(result))
        match result.value:
            case [str(text), ""]:
                computed[name] = _read_value(text)
            case [_, str(why)]:
                raise InvalidAnswerError(f"what is stated is no plain value: {why}")
            case _:
                raise InvalidAnswerError("what is stated is no plain value")
    return computed


def _is_to_compute(value: Any) -> bool:
    return isinstance(value, tuple) and value[0] == "compute"


def _read_value(text: str) -> Any:
    """Reads what the child says that an expression came to; the child is trusted no more than the answer."""
    try:
        return plain_value(parse_expression(text))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InvalidAnswerError("what is stated is no plain value") from None


async def check_assertions(
    sandbox: Sandbox,
    program: str,
    assertions: Sequence[tuple[Mapping[str, str], str, Mapping[str, Any]]],
    libraries: frozenset[str],
) -> list[str]:
    """Returns for each test why it failed, or an empty text. The program is loaded anew for each.

    A test is the run (`ProgramQuestions.run_of`), the completed text, and the names in it that stand for
    values, with the plain data of these.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    calls = [Call("check", (program, dict(run), text, dict(values))) for run, text, values in assertions]
    results = await run_calls(sandbox, "programs", calls, libraries)
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
