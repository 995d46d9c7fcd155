"""Takes the answer out of a reply, and grades it: the four questions of REval, section III-B.

Strict about what counts, tolerant of how it is written. Nothing here executes what a model wrote; the output
question's completed assertion is executed in the sandbox.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from triathlon_runner.records import AnswerRecord, Finish, Outcome, Reply
from triathlon_runner.runtime._asking import QuestionKind, Style, line_text, sentence_of
from triathlon_runner.runtime._assertions import Filled, fill
from triathlon_runner.runtime._check import NoValueError, check_assertions, compute_values
from triathlon_runner.runtime._fillings import InvalidAnswerError
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
    """What became of an answer, and why where it is not right."""

    outcome: Outcome
    why: str = ""

    @property
    def correct(self) -> bool:
        return self.outcome is Outcome.PASSED


async def answer_record(
    reply: Reply,
    style: Style,
    kind: QuestionKind,
    grade: Callable[[str], Awaitable[Graded]],
    *,
    question: str,
    expected: tuple[str, ...],
) -> AnswerRecord:
    """The graded answer of a reply, as results hold it; `question` as it was asked, in its tags."""
    answer = extract_answer(reply, style, kind)
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


# The answer in a reply

_OPEN: Final = re.compile(r"(\*\*)?\[ANSWER\](?(1)\*\*):?(?:\s*\[ANSWER\])*", re.IGNORECASE)
_CLOSE: Final = re.compile(r"\[/ANSWER\]?|\[ANSWER\]", re.IGNORECASE)
"""Small models open a second answer where they should close the first."""
_END_OF_THOUGHT: Final = re.compile(r"\[/THOUGHT\]", re.IGNORECASE)
_CUT_TAG: Final = re.compile(r"\[/?(?:A|AN|ANS|ANSW|ANSWE|ANSWER)?$", re.IGNORECASE)
_FENCE: Final = re.compile(r"\A```[\w+-]*\n(.*?)\n?```", re.DOTALL)
_PREFACE: Final = re.compile(
    r"\A(\*\*)?(?:Answer:|(?:The |Final |The final )[Aa]nswer(?: is)?:?)(?(1)\*\*:?)\s+(?=\S)"
)
_UNFINISHED: Final = {
    Finish.REFUSED: "the model refused",
    Finish.CONTEXT_OVERFLOW: "the prompt did not fit the model's context",
}


def extract_answer(reply: Reply, style: Style, kind: QuestionKind) -> str | Graded:
    """The text inside the answer tags, without tags the whole reply to a direct question; or why it has none.

    The closing tag is the stop sequence, so it is mostly missing; it may also be cut short. A reply that was
    cut at the token limit has no answer, except where the question asks for one line and that is complete.
    """
    without = reply.finish.outcome_without_answer
    if reply.finish in _UNFINISHED:
        return Graded(without, _UNFINISHED[reply.finish])
    inside = _text_in_tags(reply.text, style)
    if inside is None:
        return Graded(without, "the chain of thought never came to an answer")
    text, closed = inside
    if reply.finish is Finish.LENGTH and not closed:
        text = _first_line(text, kind)
        if not text:
            return Graded(without, "the reply was cut at the token limit")
    return _without_markup(text) or Graded(Outcome.NO_ANSWER, "the answer is empty")


def _text_in_tags(text: str, style: Style) -> tuple[str, bool] | None:
    """The answer as written and whether it was closed; None where a chain of thought has no answer."""
    thought = _END_OF_THOUGHT.search(text)
    rest = text[thought.end() :] if thought else text
    opening = _OPEN.search(rest)
    if opening is None and style == "cot" and thought is None:
        return None
    if opening is not None:
        rest = rest[opening.end() :]
    closing = _CLOSE.search(rest)
    return (rest[: closing.start()], True) if closing else (rest, False)


def _first_line(text: str, kind: QuestionKind) -> str:
    """The answer's first line, where one line answers such a question and another has begun; else nothing."""
    text = re.sub(r"\A\s*```[\w+-]*\n", "", text).lstrip()
    line, finished, _ = text.partition("\n")
    if not finished or kind not in ("coverage", "path"):
        return ""
    return "" if kind == "coverage" and read_coverage(line) is None else line


def _without_markup(text: str) -> str:
    """The answer without a tag that was cut short, `Answer:`, code fence and outer blank space.

    Text behind the closing fence is a remark and left out.
    """
    text = _PREFACE.sub("", _CUT_TAG.sub("", text.strip()).strip())
    fenced = _FENCE.match(text)
    text = fenced[1].strip("\n") if fenced else text
    if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        text = text[1:-1]
    return text.strip()


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
        filled = _filled(program, asked, answer)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    return await grade_filled(sandbox, program, asked, filled)


def _filled(program: ProgramQuestions, asked: InputQuestions, answer: str) -> Filled:
    try:
        return fill(asked.assertion, answer, program.program)
    except InvalidAnswerError:
        plain = answer.translate(TYPOGRAPHIC)
        if plain == answer:
            raise
        return fill(asked.assertion, plain, program.program)


async def grade_filled(
    sandbox: Sandbox, program: ProgramQuestions, asked: InputQuestions, filled: Filled
) -> Graded:
    """Computes what a filled assertion leaves to compute, and executes it with the program.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    libraries = frozenset(program.libraries)
    try:
        values = await compute_values(sandbox, filled, libraries)
    except InvalidAnswerError as error:
        return Graded(Outcome.FAILED, str(error))
    except NoValueError as error:
        problem = str(error)
    else:
        assertion = (program.run_of(asked), filled.text, values)
        (problem,) = await check_assertions(sandbox, program.program, [assertion], libraries)
    if not problem:
        return Graded(Outcome.PASSED)
    if problem.startswith(Ended.TIMED_OUT.value):
        return Graded(Outcome.TIMED_OUT, problem)
    return Graded(Outcome.FAILED if problem.startswith("AssertionError") else Outcome.CRASHED, problem)
