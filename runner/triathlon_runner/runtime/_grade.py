"""Takes the answer out of a reply, without tags, fences and wrappers; grades coverage, path and state.

Strict about what counts, tolerant of how it is written (REval, section III-B).
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from textwrap import dedent
from typing import Any, Final

from triathlon_runner.concurrency import in_other_process
from triathlon_runner.records import AnswerRecord, Finish, Outcome, Reply
from triathlon_runner.replies import ended_text, final_answer
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._literals import equal, read_literal
from triathlon_runner.runtime._questions import (
    NIL,
    NO_VALUE,
    InputQuestions,
    ProgramQuestions,
    QuestionKind,
    StatementQuestion,
    Style,
    Value,
    line_text,
    sentence_of,
)
from triathlon_runner.runtime._sandboxed.literal import NUMPY_SCALARS
from triathlon_runner.syntax import program_lines

_OPEN: Final = re.compile(r"(\*\*)?\[ANSWER\](?(1)\*\*):?(?:\s*\[ANSWER\])*", re.IGNORECASE)
_CLOSE: Final = re.compile(r"\[/ANSWER\]?|\[ANSWER\]", re.IGNORECASE)
"""Small models open a second answer where they should close the first."""
_CLOSED: Final = re.compile(r"\S\s*\[/ANSWER", re.IGNORECASE)
_END_OF_THOUGHT: Final = re.compile(r"\[/THOUGHT\]", re.IGNORECASE)
_CUT_TAG: Final = re.compile(r"\[/?(?:A|AN|ANS|ANSW|ANSWE|ANSWER)?$", re.IGNORECASE)
_FENCE: Final = re.compile(r"\A`{3,}[\w+-]*\n(.*?)(?:\n?```|\Z)", re.DOTALL)
_PREFACE: Final = re.compile(
    r"\A(\*\*)?(?:Answer:|(?:The |Final |The final )[Aa]nswer(?: is)?:?)(?(1)\*\*:?)\s+(?=\S)"
)
_WRAPPINGS: Final = ("**", "`", "'", '"')
TYPOGRAPHIC: Final = str.maketrans("‘’“”−–‑\u00a0\u202f", "''\"\"---  ")
"""What some models write in place of Python's quotes, minus and blank."""
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
    text, ended = ended_text(reply.text)
    if thought := _END_OF_THOUGHT.search(text):
        text = text[thought.end() :]
    answers = style == "direct" or thought is not None
    opening = _OPEN.search(text)
    if opening and answers and _CLOSED.search(text, 0, opening.start()):
        opening = None  # of an example that the model invents behind the answer, which the prompt had opened
    if opening:
        text = text[opening.end() :]
    elif not answers:
        return Graded(without, "the chain of thought never came to an answer")
    if closing := _CLOSE.search(text):
        text = text[: closing.start()]
    elif reply.finish is Finish.LENGTH and not ended:
        return Graded(without, "the reply was cut at the token limit")
    text = _PREFACE.sub("", _CUT_TAG.sub("", _without_margin(final_answer(text))).strip())
    if fenced := _FENCE.match(text):
        text = _without_margin(fenced[1])  # what stands behind the closing fence is a remark
    bare = text.strip("`")
    if bare and text[0] == text[-1] == "`" and "`" not in bare:
        text = bare
    return text.strip() or Graded(Outcome.NO_ANSWER, "the answer is empty")


def _without_margin(text: str) -> str:
    """A text without blank space around it, and without the indentation that all its lines have."""
    return (dedent(text) if text.lstrip("\n")[:1].isspace() else text).strip()


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
    answer = await in_other_process(len(reply.text), extract_answer, reply, style)
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
        return (program.masked_test(asked).completed(),)
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
    truth = "the line is executed" if question.executed else "it is not"
    return Graded.of(truth, right=answer_yes is question.executed)


# Path

_MINUS_ONE: Final = re.compile(r"[`'\"*\[]*-\s?1[`'\"*\]]*(?:\s*[.,:;(—-].*)?")
_NUMBERED: Final = re.compile(
    r"\**(?:(?:line\s+|L)?\d+\**\s*[:.|)]|(?:line\s+)?\d+\**\s)\**\s*(?=\S)", re.IGNORECASE
)
_IN_BRACKETS: Final = re.compile(r"\A\(`([^`]+)`\)\W*\Z")
"""As the question writes a line behind its number: line 5 (`return total`)."""
_IN_BACKTICKS: Final = re.compile(r"`([^`]+)`(?:\s[^`]*)?")
"""A line, and perhaps a remark behind it."""
_BEFORE_COMMENT: Final = re.compile(
    r"""(?!\s*\#) ((?: [^#'"] | '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" )*) \#""", re.VERBOSE
)
"""Code with whole strings, up to a hash sign outside of them."""


def expected_path(program: str, question: StatementQuestion) -> tuple[str, ...]:
    """The texts of the lines that came next, in the order of the program."""
    return tuple(dict.fromkeys(line_text(program, line) for line in question.next_lines))


def grade_path(program: str, question: StatementQuestion, answer: str) -> Graded:
    """Compares the texts of lines: of lines with the same text, the answer may mean any.

    The first line of the answer counts, bare of backticks and bold type; `-1` however it is explained.
    """
    line = next(filter(None, map(str.strip, program_lines(answer))), "")
    if _MINUS_ONE.fullmatch(line.translate(TYPOGRAPHIC)):
        line = "-1"
    elif quoted := _IN_BACKTICKS.fullmatch(line):
        line = quoted[1].strip()
    elif line.startswith(("`", "**")):
        line = unwrapped(line)
    if not line:
        return Graded(Outcome.NO_ANSWER, "no line")
    right = expected_path(program, question)
    number = _NUMBERED.match(line)
    texts = [line, *([_IN_BRACKETS.sub(r"\1", line[number.end() :])] if number else [])]
    forms = [form for text in texts for form in (text, text.translate(TYPOGRAPHIC))]
    options = {_without_comment(option) for form in forms for option in (form, unwrapped(form))}
    return Graded.of("another line is next", right=not options.isdisjoint(map(_without_comment, right)))


def _without_comment(line: str) -> str:
    """A line without the comment at its end, which an answer need not repeat."""
    code = _BEFORE_COMMENT.match(line)
    return (code[1] if code else line).strip()


# State: answers of the form `value; type`

_CLASS: Final = re.compile(r"<(?:class|type|enum|flag) ['\"]([\w.<>]+)['\"]>")
_VALUE_LABEL: Final = re.compile(r"\A\**value\**\s*[:=]\**\s*", re.IGNORECASE)
_TYPE_LABEL: Final = re.compile(r"\A(?:type\**\s*[:=]\**|type |class )\s*", re.IGNORECASE)
_MAX_TYPE: Final = 300
"""Characters; no type's name is longer, and patterns are not run over whole replies."""
_REMARK: Final = re.compile(r"(?<=[\w\])}>`'\"*])\s+(?:\(.*\)|[#–—-].*)\Z", re.DOTALL)
_SAME_TYPES: Final = {
    "string": "str", "text": "str", "integer": "int", "boolean": "bool", "none": "nonetype",
    "dictionary": "dict", "double": "float", "np.array": "ndarray", "array": "ndarray",
    "type(none)": "nonetype",
}  # fmt: skip
_NIL_BEFORE_REMARK: Final = re.compile(r"[\['\"`*]*nil[\]'\"`*]*\s*(?:[.,:;(–—-].*)?", re.IGNORECASE)
_INSIDE: Final = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
"""What a type holds: `[str, int]` of `dict[str, int]`."""


def grade_state(question: StatementQuestion, answer: str) -> Graded:
    """Right where value and type both match one of those observed, or where `Nil` says that there is none.

    The variable's own name may stand in front, `total = 5; int`, or a label, `Value: 5; Type: int`.
    """
    unnamed = re.sub(rf"\A\s*[`*]*{re.escape(question.variable)}[`*]*\s*[=:](?!=)", "", answer)
    answers = [state for text in dict.fromkeys((answer, unnamed)) for state in read_states(text)]
    if any(matches(true, value, kind) for true in question.states for value, kind in answers):
        return Graded(Outcome.PASSED)
    # Behind `Nil` on the first line stands a remark.
    first = _VALUE_LABEL.sub("", unnamed.strip()).partition("\n")[0].strip()
    if is_nil(answer) or _NIL_BEFORE_REMARK.fullmatch(first) or any(is_nil(value) for value, _ in answers):
        without_value = not question.states or NO_VALUE in question.states
        return Graded.of("the variable has a value there", right=without_value)
    if not answers:
        return Graded(Outcome.NO_ANSWER, "no `value; type`")
    if question.states:
        return Graded(Outcome.FAILED, "another value or type")
    return Graded(Outcome.FAILED, "it has no value" if question.executed else "the line is not executed")


def is_nil(text: str) -> bool:
    """Whether a text means that there is no value."""
    return text.translate(TYPOGRAPHIC).strip().strip("[]'\"`*.").strip().lower() == "nil"


def read_states(answer: str) -> Iterator[tuple[str, str]]:
    """The (value, type) that an answer may mean: all of it, or its first line, what follows being a remark.

    Nothing where it has not the form `value; type`.
    """
    whole = answer.strip().rstrip(";").rstrip()
    first = whole.partition("\n")[0].rstrip().rstrip(";").rstrip()
    texts = [whole, first, *(bare for text in (whole, first) if (bare := unwrapped(text)) != text)]
    for text in dict.fromkeys(texts):
        value, semicolon, kind = text.rpartition(";")
        if semicolon:
            yield value.strip(), kind.strip()


def read_type(text: str) -> str:
    """Returns a type's plain name: int, list, datetime of `<class 'int'>`, `List[int]`, `datetime.datetime`.

    Several types, `int, int` or `(int, str)`, are those of a tuple.
    """
    if len(text) > _MAX_TYPE:
        return ""
    name = unwrapped(_REMARK.sub("", text.strip().rstrip("."))).strip("*`'\"").strip()
    name = _TYPE_LABEL.sub("", name).strip("`'\"")
    wrapped = _CLASS.fullmatch(name)
    name = wrapped[1] if wrapped else name
    outside, count = name, 1
    while count:
        outside, count = _INSIDE.subn("", outside)
    name = re.sub(r"\A\(([\w.]+)\)\Z", r"\1", name)
    if (name.startswith("(") and name.endswith(")")) or re.fullmatch(r"[\w.]+(\s*,\s*[\w.]+)+,?", outside):
        return "tuple"
    name = re.split(r"\[| of\b|(?<!\Atype)\(", name, maxsplit=1)[0].rpartition(".")[2].strip().lower()
    return _SAME_TYPES.get(name, name)


def matches(true: Value, value: str, kind: str) -> bool:
    """Whether a value and a type as they were written are those that were observed."""
    types = {read_type(true.type), _NUMPY_SCALARS.get(true.type)}
    stated = {read_type(kind), "tuple" if kind.startswith("(") and kind.endswith(")") else ""}  # `(int)`
    if not true.text or stated.isdisjoint(types):
        return False
    if not true.literal:
        return value.split() == true.text.split()
    wanted = read_literal(true.text)
    if isinstance(wanted, str) and value == wanted:
        return True  # a text without quotes
    return any(
        isinstance(read, _NUMBERS.get(true.type, object)) and equal(wanted, read)
        for read in _possible_values(value, true.type)
    )


_NUMPY_SCALARS: Final = {f"numpy.{name}": name.strip("u_0123456789") for name in (*NUMPY_SCALARS, "bool")}
"""Types of NumPy's scalars, each with that of the number that it prints."""
_NUMBERS: Final[dict[str, Any]] = {"int": int, "float": int | float}
"""By type what its literals are; a whole number may be a float."""


_BETWEEN_ITEMS: Final = re.compile(r"(?<=[\w.\]])\s+(?=[-\w.\[])")


def _possible_values(value: str, kind: str) -> Iterator[Any]:
    """The values that a text may mean: as a literal, or as `str()` writes dates, arrays and decimals."""
    bare = _VALUE_LABEL.sub("", value)
    marked = [unwrapped(text) for text in (value, bare) if text.startswith(("`", "**"))]
    texts = [form for text in (value, bare, *marked) for form in (text, text.translate(TYPOGRAPHIC))]
    if kind in ("numpy.ndarray", "numpy.matrix"):
        texts.append(_BETWEEN_ITEMS.sub(", ", value))
    if kind in ("bool", "NoneType"):
        texts.append(value.capitalize())  # upper and lower case make no difference
    for text in dict.fromkeys(texts):
        with suppress(InvalidAnswerError):
            yield read_literal(text)
    parser = _PARSERS.get(kind)
    if parser is not None:
        with suppress(ValueError, ArithmeticError):
            yield parser(value.strip("'\""))


_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "datetime.datetime": datetime.fromisoformat,
    "datetime.date": date.fromisoformat,
    "datetime.time": time.fromisoformat,
    "decimal.Decimal": Decimal,
    "fractions.Fraction": lambda text: read_literal(f"Fraction({text!r})"),
}
