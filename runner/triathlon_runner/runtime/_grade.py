"""Takes the answer out of a reply, without reasoning, tags, fences and wrappers; grades coverage and path.

Strict about what counts, tolerant of how it is written (REval, section III-B).
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from triathlon_runner.apart import apart
from triathlon_runner.records import AnswerRecord, Finish, Outcome, Reply
from triathlon_runner.replies import ended_text, final_answer
from triathlon_runner.runtime._asking import QuestionKind, Style, line_text, sentence_of
from triathlon_runner.runtime._questions import NIL, InputQuestions, ProgramQuestions, StatementQuestion

_OPEN: Final = re.compile(r"(\*\*)?\[ANSWER\](?(1)\*\*):?(?:\s*\[ANSWER\])*", re.IGNORECASE)
_CLOSE: Final = re.compile(r"\[/ANSWER\]?|\[ANSWER\]", re.IGNORECASE)
"""Small models open a second answer where they should close the first."""
_END_OF_THOUGHT: Final = re.compile(r"\[/THOUGHT\]", re.IGNORECASE)
_CUT_TAG: Final = re.compile(r"\[/?(?:A|AN|ANS|ANSW|ANSWE|ANSWER)?$", re.IGNORECASE)
_FENCE: Final = re.compile(r"\A```[\w+-]*\n(.*?)\n?```", re.DOTALL)
_PREFACE: Final = re.compile(
    r"\A(\*\*)?(?:Answer:|(?:The |Final |The final )[Aa]nswer(?: is)?:?)(?(1)\*\*:?)\s+(?=\S)"
)
_WRAPPINGS: Final = ("**", "`", "'", '"')
TYPOGRAPHIC: Final = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "−": "-"})
"""What some models write in place of Python's quotes and minus."""
_UNFINISHED: Final = {
    Finish.REFUSED: "the model refused",
    Finish.CONTEXT_OVERFLOW: "the prompt did not fit the model's context",
}


@dataclass(frozen=True, slots=True)
class Graded:
    """What became of an answer, and why where it is not right."""

    outcome: Outcome
    why: str = ""

    @classmethod
    def of(cls, why: str, *, right: bool) -> "Graded":
        """Passed where it is right, else failed for this reason."""
        return cls(Outcome.PASSED) if right else cls(Outcome.FAILED, why)

    @property
    def correct(self) -> bool:
        return self.outcome is Outcome.PASSED


def extract_answer(reply: Reply, style: Style) -> str | Graded:
    """The text inside the answer tags, without tags the whole reply to a direct question; or why it has none.

    The closing tag is the stop sequence, so it is mostly missing; it may also be cut short. A reply that was
    cut at the token limit has no answer, unless that was closed before the cut.
    """
    without = reply.finish.outcome_without_answer
    if reply.finish in _UNFINISHED:
        return Graded(without, _UNFINISHED[reply.finish])
    visible, ended = ended_text(reply.text)
    inside = _text_in_tags(visible, style)
    if inside is None:
        return Graded(without, "the chain of thought never came to an answer")
    text, closed = inside
    if reply.finish is Finish.LENGTH and not (closed or ended):
        return Graded(without, "the reply was cut at the token limit")
    return _without_markup(final_answer(text)) or Graded(Outcome.NO_ANSWER, "the answer is empty")


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


def unwrapped(text: str) -> str:
    """A text without quotes, backticks or bold type around all of it."""
    for mark in _WRAPPINGS:
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            return text[len(mark) : -len(mark)].strip()
    return text


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


def grade_path(program: str, question: StatementQuestion, answer: str) -> Graded:
    """Compares the texts of lines: of lines with the same text, the answer may mean any.

    The first line of the answer counts, bare of backticks and bold type; `-1` however it is explained.
    """
    line = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    if _MINUS_ONE.fullmatch(line.translate(TYPOGRAPHIC)):
        line = "-1"
    elif line.startswith(("`", "**")):
        line = unwrapped(line)
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
