"""Judging answers to the four questions (REval, section III-B)."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from triathlon_runner.records import Outcome
from triathlon_runner.runtime._asking import line_text
from triathlon_runner.runtime._assertions import DodgeError, fill
from triathlon_runner.runtime._check import check_assertions
from triathlon_runner.runtime._literals import NotALiteralError, equal, read_literal
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions, StatementQuestion, Value
from triathlon_runner.sandbox import Ended, Sandbox

NIL: Final = "Nil"
"""The value of a variable at a line that is not executed."""


@dataclass(frozen=True, slots=True)
class Judged:
    outcome: Outcome
    why: str = ""

    @property
    def correct(self) -> bool:
        return self.outcome is Outcome.PASSED


def _right_or(why: str, *, right: bool) -> Judged:
    return Judged(Outcome.PASSED) if right else Judged(Outcome.FAILED, why)


# Coverage

_YES_NO: Final = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


def expected_coverage(question: StatementQuestion) -> tuple[str, ...]:
    return ("YES",) if question.executed else ("NO",)


def read_coverage(answer: str) -> bool | None:
    """YES or NO: the only one of the two words that occurs, or the one that opens the answer."""
    words = [word.lower() for word in _YES_NO.findall(answer)]
    opening = re.match(r"\W*(yes|no)\s*(?:$|[^\w\s]|\n)", answer, re.IGNORECASE)
    if opening is not None:
        return opening[1].lower() == "yes"
    return words[0] == "yes" if len(set(words)) == 1 else None


def judge_coverage(question: StatementQuestion, answer: str) -> Judged:
    said = read_coverage(answer)
    if said is None:
        return Judged(Outcome.NO_ANSWER, "neither YES nor NO")
    return _right_or(
        "the line is executed" if question.executed else "it is not", right=said is question.executed
    )


# State

_CLASS: Final = re.compile(r"<(?:class|type) ['\"]([\w.]+)['\"]>")
_SAME_TYPES: Final = {
    "string": "str", "text": "str", "integer": "int", "boolean": "bool", "none": "nonetype",
    "dictionary": "dict", "double": "float", "np.array": "ndarray", "array": "ndarray",
}  # fmt: skip


def expected_state(question: StatementQuestion) -> tuple[str, ...]:
    if not question.states:
        return (NIL,)
    return tuple(map(str, question.states))


def read_type(text: str) -> str:
    """A type's plain name: `<class 'int'>`, `List[int]`, `datetime.datetime` give int, list, datetime."""
    name = text.strip().strip("`'\"").strip()
    wrapped = _CLASS.fullmatch(name)
    name = wrapped[1] if wrapped else name
    if name.startswith("(") and name.endswith(")"):
        return "tuple"
    name = re.split(r"\[| of ", name, maxsplit=1)[0].rpartition(".")[2].strip().lower()
    return _SAME_TYPES.get(name, name)


def judge_state(question: StatementQuestion, answer: str) -> Judged:
    """Right where value and type both match one of those observed."""
    if _is_nil(answer):
        return _right_or("the variable has a value there", right=not question.states)
    value, semicolon, kind = answer.rpartition(";")
    if not semicolon:
        return Judged(Outcome.NO_ANSWER, "no `value; type`")
    if _is_nil(value):
        return _right_or("the variable has a value there", right=not question.states)
    if not question.states:
        return Judged(
            Outcome.FAILED, "the line is not executed" if not question.executed else "it has no value"
        )
    return _right_or(
        "another value or type", right=any(_matches(true, value.strip(), kind) for true in question.states)
    )


def _is_nil(text: str) -> bool:
    return text.strip().strip("[]'\"`").strip().lower() == "nil"


def _matches(true: Value, value: str, kind: str) -> bool:
    if not true.text or read_type(kind) != read_type(true.type):
        return False
    if not true.literal:
        return value.split() == true.text.split()
    wanted = read_literal(true.text)
    if isinstance(wanted, str) and value == wanted:
        return True  # a text without quotes
    return any(_agrees(given, true.type) and equal(given, wanted) for given in _readings(value, true.type))


_PLAIN_TYPES: Final = {
    "int": (int,), "float": (int, float), "complex": (int, float, complex), "str": (str,), "bytes": (bytes,),
    "bool": (bool,), "list": (list,), "tuple": (tuple,), "set": (set,), "frozenset": (frozenset, set),
    "dict": (dict,), "NoneType": (type(None),),
}  # fmt: skip


def _agrees(given: Any, kind: str) -> bool:
    """Whether a literal can be of the type that the answer names; a whole number may stand for a float."""
    allowed = _PLAIN_TYPES.get(kind)
    if allowed is None:
        return True
    return isinstance(given, allowed) and (kind == "bool" or not isinstance(given, bool))


_TYPOGRAPHIC: Final = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})
_BETWEEN_ITEMS: Final = re.compile(r"(?<=[\w.\]])\s+(?=[-\w.\[])")


def _readings(value: str, kind: str) -> Iterator[Any]:
    """The values that a text may mean: as a literal, or as `str()` writes dates, arrays and decimals."""
    texts = [value, value.translate(_TYPOGRAPHIC)]
    if kind in ("numpy.ndarray", "numpy.matrix"):
        texts.append(_BETWEEN_ITEMS.sub(", ", value))
    for text in dict.fromkeys(texts):
        with suppress(NotALiteralError):
            yield read_literal(text)
    written = _WRITTEN.get(kind)
    if written is not None:
        with suppress(ValueError, ArithmeticError):
            yield written(value.strip("'\""))


_WRITTEN: Final[dict[str, Callable[[str], Any]]] = {
    "datetime.datetime": datetime.fromisoformat,
    "datetime.date": date.fromisoformat,
    "datetime.time": time.fromisoformat,
    "decimal.Decimal": Decimal,
}


# Path

_NUMBERED: Final = re.compile(r"(?:line\s+)?(\d+)\s*[:.\t|]\s*(?=\S)|(\d+)\s{2,}(?=\S)", re.IGNORECASE)


def expected_path(program: str, question: StatementQuestion) -> tuple[str, ...]:
    """The texts of the lines that came next, in the order of the program."""
    return tuple(dict.fromkeys(line_text(program, line) for line in question.next_lines))


def read_path(answer: str) -> str:
    """The first line of an answer, without a line number, quotes or backticks around it."""
    text = next((line.strip() for line in answer.splitlines() if line.strip()), "")
    if re.fullmatch(r"[`'\"]?-\s?1[`'\"]?\.?", text):
        return "-1"
    if len(text) > 2 and text[0] == text[-1] == "`":
        text = text[1:-1].strip()
    return text


def judge_path(program: str, question: StatementQuestion, answer: str) -> Judged:
    """By text: a text that stands on several lines counts where any of them comes next."""
    said = read_path(answer)
    if not said:
        return Judged(Outcome.NO_ANSWER, "no line")
    right = expected_path(program, question)
    number = _NUMBERED.match(said)
    options = {_bare(said), *([_bare(said[number.end() :])] if number else [])}
    return _right_or("another line is next", right=any(_bare(text) in options for text in right))


def _bare(line: str) -> str:
    """A line without a comment at its end: nobody needs to repeat it."""
    code, hash_sign, comment = line.rpartition("#")
    plain = hash_sign and code.strip() and not any(quote in comment for quote in "'\"")
    return (code if plain else line).strip()


# Output


async def judge_output(
    sandbox: Sandbox, program: ProgramQuestions, asked: InputQuestions, answer: str
) -> Judged:
    """Executes the completed assertion.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    try:
        completed = _filled(program, asked, answer)
    except DodgeError as dodge:
        return Judged(Outcome.FAILED, str(dodge))
    run = program.run_of(asked)
    problems = await check_assertions(
        sandbox, program.program, [(run, completed)], frozenset(program.libraries)
    )
    if not problems[0]:
        return Judged(Outcome.PASSED)
    if problems[0].startswith(Ended.TIMED_OUT.value):
        return Judged(Outcome.TIMED_OUT, problems[0])
    wrong = problems[0].startswith("AssertionError")
    return Judged(Outcome.FAILED if wrong else Outcome.CRASHED, problems[0])


def _filled(program: ProgramQuestions, asked: InputQuestions, answer: str) -> str:
    try:
        return fill(asked.assertion, answer, program.program)
    except DodgeError:
        plain = answer.translate(_TYPOGRAPHIC)
        if plain == answer:
            raise
        return fill(asked.assertion, plain, program.program)


def expected_output(asked: InputQuestions) -> tuple[str, ...]:
    return (asked.assertion.completed(),)
