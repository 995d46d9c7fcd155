"""Takes the answer out of a reply, and grades it: the four questions of REval, section III-B.

Strict about what counts, tolerant of how it is written. Nothing here executes what a model wrote; the output
question's completed assertion is executed in the sandbox.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from triathlon_runner.apart import apart
from triathlon_runner.records import AnswerRecord, Outcome, Reply
from triathlon_runner.runtime._answer import TYPOGRAPHIC, Graded, extract_answer, unwrapped
from triathlon_runner.runtime._asking import QuestionKind, Style, line_text, sentence_of
from triathlon_runner.runtime._outputs import grade_output
from triathlon_runner.runtime._questions import NIL, InputQuestions, ProgramQuestions, StatementQuestion
from triathlon_runner.runtime._states import grade_state
from triathlon_runner.sandbox import Sandbox


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
    return Graded.of(
        "the line is executed" if question.executed else "it is not", right=answer_yes is question.executed
    )


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
    return Graded.of("another line is next", right=not options.isdisjoint(map(_without_comment, right)))


def _without_comment(line: str) -> str:
    """A line without the comment at its end, which an answer need not repeat."""
    code, hash_sign, comment = line.rpartition("#")
    plain = hash_sign and code.strip() and not any(quote in comment for quote in "'\"")
    return (code if plain else line).strip()
