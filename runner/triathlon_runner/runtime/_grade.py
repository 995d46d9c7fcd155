"""Takes the answer out of a reply, and grades it: the four questions of REval, section III-B.

Strict about what counts, tolerant of how it is written. Nothing here executes what a model wrote; the output
question's completed assertion is executed in the sandbox.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from itertools import product
from typing import Any, Final

from triathlon_runner.apart import apart
from triathlon_runner.records import AnswerRecord, Outcome, Reply
from triathlon_runner.runtime._answer import Graded, extract_answer
from triathlon_runner.runtime._asking import QuestionKind, Style, line_text, sentence_of
from triathlon_runner.runtime._assertions import STUB, Filled, StubCheck, fill
from triathlon_runner.runtime._check import NoValueError, check_assertions, compute_values
from triathlon_runner.runtime._claims import MaskedTest
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._questions import (
    NIL,
    NO_VALUE,
    InputQuestions,
    ProgramQuestions,
    StatementQuestion,
)
from triathlon_runner.runtime._states import (
    TYPOGRAPHIC,
    begins_with_nil,
    is_nil,
    matches,
    read_states,
    unwrapped,
)
from triathlon_runner.sandbox import Ended, Sandbox


async def answer_record(
    reply: Reply,
    style: Style,
    grade: Callable[[str], Awaitable[Graded]],
    *,
    question: str,
    expected: tuple[str, ...],
) -> AnswerRecord:
    """The graded answer of a reply, as results hold it; `question` as it was asked, in its tags."""
    answer = await apart(len(reply.text), extract_answer, reply, style)
    graded = answer if isinstance(answer, Graded) else await grade(answer)
    return AnswerRecord(
        question=sentence_of(question),
        reply=reply,
        answer=None if isinstance(answer, Graded) else answer,
        expected=expected,
        outcome=graded.outcome,
        correct=graded.correct,
        why=graded.why,
    )


# Any question


def expected_answers(
    kind: QuestionKind, program: ProgramQuestions, asked: InputQuestions, statement: StatementQuestion | None
) -> tuple[str, ...]:
    """Every right answer as text; of an output question, which has no `statement`, the data set's own."""
    if statement is None:
        return (asked.assertion.completed(),)
    if kind == "coverage":
        return ("YES" if statement.executed else "NO",)
    if kind == "state":
        return tuple(map(str, statement.states)) or (NIL,)
    return expected_path(program.program, statement)


async def grade_answer(
    sandbox: Sandbox,
    kind: QuestionKind,
    program: ProgramQuestions,
    asked: InputQuestions,
    statement: StatementQuestion | None,
    answer: str,
) -> Graded:
    """Grades an answer to a question; one about the output has no `statement`.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    if statement is None:
        return await grade_output(sandbox, program, asked, answer)
    if kind == "coverage":
        return grade_coverage(statement, answer)
    return (
        grade_state(statement, answer) if kind == "state" else grade_path(program.program, statement, answer)
    )


def _passed_or_failed(why: str, *, right: bool) -> Graded:
    return Graded(Outcome.PASSED) if right else Graded(Outcome.FAILED, why)


# Coverage

_YES_NO: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_OPENING: Final = re.compile(
    r"\W*(?:(?P<yes>yes)\b(?![ \t]*(?:/|(?:or|and|no)\b))|no\s*(?:$|(?!/)[^\w\s]|\n))", re.IGNORECASE
)
"""Matches no echo of `YES or NO`, and no `no` that belongs to the next word: `no line`, `no return`."""


_NOT_EXECUTED: Final = re.compile(r"\bnot\s+executed\b", re.IGNORECASE)


def read_coverage(answer: str) -> bool | None:
    """YES or NO: the word that opens the answer, or the only one of the two that occurs.

    Where neither does, `not executed` is NO.
    """
    opening = _OPENING.match(answer)
    if opening is not None:
        return opening["yes"] is not None
    words = {word.lower() for word in _YES_NO.findall(answer)}
    if not words and _NOT_EXECUTED.search(answer):
        return False
    return "yes" in words if len(words) == 1 else None


def grade_coverage(question: StatementQuestion, answer: str) -> Graded:
    answer_yes = read_coverage(answer)
    if answer_yes is None:
        return Graded(Outcome.NO_ANSWER, "neither YES nor NO")
    return _passed_or_failed(
        "the line is executed" if question.executed else "it is not", right=answer_yes is question.executed
    )


# State


def grade_state(question: StatementQuestion, answer: str) -> Graded:
    """Right where value and type both match one of those observed."""
    without_value = not question.states or NO_VALUE in question.states
    if is_nil(answer):
        return _passed_or_failed("the variable has a value there", right=without_value)
    answers = list(read_states(answer))
    if any(matches(true, value, kind) for true in question.states for value, kind in answers):
        return Graded(Outcome.PASSED)
    if begins_with_nil(answer) or any(is_nil(value) for value, _ in answers):
        return _passed_or_failed("the variable has a value there", right=without_value)
    if not answers:
        return Graded(Outcome.NO_ANSWER, "no `value; type`")
    if question.states:
        return Graded(Outcome.FAILED, "another value or type")
    return Graded(Outcome.FAILED, "it has no value" if question.executed else "the line is not executed")


# Path

_MINUS_ONE: Final = re.compile(r"[`'\"*\[]*-\s?1[`'\"*\]]*(?:\s*[.,:;(].*)?")
_NUMBERED: Final = re.compile(
    r"(?:(?:line\s+|L)?\d+\s*[:.\t|)]|line\s+\d+\s|\d+\s{2})\s*(?=\S)", re.IGNORECASE
)


def expected_path(program: str, question: StatementQuestion) -> tuple[str, ...]:
    """The texts of the lines that came next, in the order of the program."""
    return tuple(dict.fromkeys(line_text(program, line) for line in question.next_lines))


def read_path(answer: str) -> str:
    """The first line of an answer, bare of backticks and bold type; `-1` however it is explained."""
    text = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    if _MINUS_ONE.fullmatch(text.translate(TYPOGRAPHIC)):
        return "-1"
    return unwrapped(text) if text.startswith(("`", "**")) else text


def grade_path(program: str, question: StatementQuestion, answer: str) -> Graded:
    """Compares the texts of lines: of lines with the same text, the answer may mean any."""
    line = read_path(answer)
    if not line:
        return Graded(Outcome.NO_ANSWER, "no line")
    right = expected_path(program, question)
    number = _NUMBERED.match(line)
    texts = [line, *([line[number.end() :]] if number else [])]
    options = {_without_comment(option) for text in texts for option in (text, unwrapped(text))}
    return _passed_or_failed(
        "another line is next", right=not options.isdisjoint(map(_without_comment, right))
    )


def _without_comment(line: str) -> str:
    """A line without the comment at its end, which an answer need not repeat."""
    code, hash_sign, comment = line.rpartition("#")
    plain = hash_sign and code.strip() and not any(quote in comment for quote in "'\"")
    return (code if plain else line).strip()


# Output


async def grade_output(
    sandbox: Sandbox, program: ProgramQuestions, asked: InputQuestions, answer: str
) -> Graded:
    """Executes the completed assertion.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    try:
        filled = _filled(masked_test(program, asked), answer)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    return await grade_filled(sandbox, program, asked, filled)


def masked_test(program: ProgramQuestions, asked: InputQuestions) -> MaskedTest:
    """The output question of an input, as answers to it are read."""
    return MaskedTest(asked.assertion, program.program, asked.setup)


def _filled(question: MaskedTest, answer: str) -> Filled:
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
        values = {**filled.values, **await compute_values(sandbox, filled.computed, libraries)}
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    except NoValueError as error:
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
