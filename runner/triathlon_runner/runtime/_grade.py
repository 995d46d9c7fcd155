"""Grading answers to the four questions (REval, section III-B)."""

import re
from dataclasses import dataclass
from typing import Final

from triathlon_runner.records import Outcome
from triathlon_runner.runtime._asking import line_text
from triathlon_runner.runtime._assertions import Filled, InvalidAnswerError, fill
from triathlon_runner.runtime._check import Assertion, NoValueError, check_assertions, compute_values
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions, StatementQuestion
from triathlon_runner.runtime._states import (
    TYPOGRAPHIC,
    begins_with_nil,
    is_nil,
    matches,
    read_states,
    unwrapped,
)
from triathlon_runner.sandbox import Ended, Sandbox

NIL: Final = "Nil"
"""The value of a variable at a line that is not executed."""


@dataclass(frozen=True, slots=True)
class Graded:
    outcome: Outcome
    why: str = ""

    @property
    def correct(self) -> bool:
        return self.outcome is Outcome.PASSED


def _passed_or_failed(why: str, *, right: bool) -> Graded:
    return Graded(Outcome.PASSED) if right else Graded(Outcome.FAILED, why)


# Coverage

_YES_NO: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_OPENING: Final = re.compile(
    r"\W*(?:(?P<yes>yes)\b(?![ \t]*(?:/|(?:or|and|no)\b))|no\s*(?:$|(?!/)[^\w\s]|\n))", re.IGNORECASE
)
"""Matches no echo of `YES or NO`, and no `no` that belongs to the next word: `no line`, `no return`."""


def expected_coverage(question: StatementQuestion) -> tuple[str, ...]:
    return ("YES",) if question.executed else ("NO",)


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


def expected_state(question: StatementQuestion) -> tuple[str, ...]:
    if not question.states:
        return (NIL,)
    return tuple(map(str, question.states))


def grade_state(question: StatementQuestion, answer: str) -> Graded:
    """Right where value and type both match one of those observed."""
    if is_nil(answer):
        return _passed_or_failed("the variable has a value there", right=not question.states)
    answers = list(read_states(answer))
    if any(matches(true, value, kind) for true in question.states for value, kind in answers):
        return Graded(Outcome.PASSED)
    if begins_with_nil(answer) or any(is_nil(value) for value, _ in answers):
        return _passed_or_failed("the variable has a value there", right=not question.states)
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
        "another line is next", right=any(_without_comment(text) in options for text in right)
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
    libraries = frozenset(program.libraries)
    try:
        filled = _filled(program, asked, answer)
        values = await compute_values(sandbox, filled, libraries)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    except NoValueError as error:
        return graded_problem(error.problem)
    assertion = Assertion(program.run_of(asked), filled.text, values)
    (problem,) = await check_assertions(sandbox, program.program, [assertion], libraries)
    return graded_problem(problem)


def graded_problem(problem: str) -> Graded:
    """The grade of an assertion by what `check_assertions` says of it."""
    if not problem:
        return Graded(Outcome.PASSED)
    if problem.startswith(Ended.TIMED_OUT.value):
        return Graded(Outcome.TIMED_OUT, problem)
    return Graded(Outcome.FAILED if problem.startswith("AssertionError") else Outcome.CRASHED, problem)


def _filled(program: ProgramQuestions, asked: InputQuestions, answer: str) -> Filled:
    try:
        return fill(asked.assertion, answer, program.program)
    except InvalidAnswerError:
        plain = answer.translate(TYPOGRAPHIC)
        if plain == answer:
            raise
        return fill(asked.assertion, plain, program.program)


def expected_output(asked: InputQuestions) -> tuple[str, ...]:
    return (asked.assertion.completed(),)
