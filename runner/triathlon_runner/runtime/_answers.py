"""Extracting the answer from a reply: strict about what counts, tolerant of how it is written.

Nothing here executes what a model wrote.
"""

import re
from dataclasses import dataclass
from typing import Final

from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.runtime._asking import QuestionKind, Style
from triathlon_runner.runtime._grade import read_coverage

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


@dataclass(frozen=True, slots=True)
class ExtractedAnswer:
    """The answer in a reply, or why it has none."""

    text: str | None
    outcome: Outcome | None = None
    """Set where there is no text."""
    why: str = ""


def extract_answer(reply: Reply, style: Style, kind: QuestionKind) -> ExtractedAnswer:
    """The text inside the answer tags; without tags the whole reply to a direct question.

    The closing tag is the stop sequence, so it is mostly missing; it may also be cut short. A reply that was
    cut at the token limit has no answer, except where the question asks for one line and that is complete.
    """
    if reply.finish in _UNFINISHED:
        return ExtractedAnswer(None, reply.finish.outcome_without_answer, _UNFINISHED[reply.finish])
    cut = reply.finish is Finish.LENGTH
    inside = _text_in_tags(reply.text, style)
    if inside is None:
        why = "the chain of thought never came to an answer"
        return ExtractedAnswer(None, reply.finish.outcome_without_answer, why)
    text, closed = inside
    if cut and not closed:
        finished = _first_line(text, kind)
        if not finished:
            return ExtractedAnswer(
                None, reply.finish.outcome_without_answer, "the reply was cut at the token limit"
            )
        text = finished
    text = _without_markup(text)
    return ExtractedAnswer(text) if text else ExtractedAnswer(None, Outcome.NO_ANSWER, "the answer is empty")


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
