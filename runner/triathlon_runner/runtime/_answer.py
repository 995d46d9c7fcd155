"""Takes the answer to a question out of a reply: without reasoning, tags, fences and wrappers."""

import re
from dataclasses import dataclass
from typing import Final

from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.replies import ended_text, final_answer
from triathlon_runner.runtime._asking import Style

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
