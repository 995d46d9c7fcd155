"""Keeping a model's reasoning apart from its answer."""

import re
from typing import Any

_NAMES = r"think|thinking|thought|reasoning|seed:think"
_OPEN = re.compile(rf"(?:<({_NAMES})>|◁(think)▷)")
_ANY_CLOSE = re.compile(rf"</(?:{_NAMES})>|◁/think▷")
_FIELDS = ("reasoning_content", "reasoning", "thinking")


def split_reasoning(text: str) -> tuple[str, str]:
    """Splits a reply into (answer, reasoning) by its tags.

    Reasoning is what stands before a closing tag that has no opening one (chat templates often put the
    opening tag into the prompt), every tagged block that begins a line, and all from an opening tag that is
    never closed.
    """
    if "<" not in text and "◁" not in text:
        return text, ""
    reasoning: list[str] = []
    answer = text
    first_close, first_open = _ANY_CLOSE.search(answer), _OPEN.search(answer)
    if first_close and (first_open is None or first_close.start() < first_open.start()):
        reasoning.append(answer[: first_close.start()])
        answer = answer[first_close.end() :]
    position = 0
    while opening := _OPEN.search(answer, position):
        if answer[: opening.start()].rpartition("\n")[2].strip():
            position = opening.end()  # inside a line: the answer talks about the tag
            continue
        closing = _ANY_CLOSE.search(answer, opening.end())
        reasoning.append(answer[opening.end() : closing.start() if closing else len(answer)])
        answer = answer[: opening.start()] + (answer[closing.end() :] if closing else "")
        position = opening.start()
    if not reasoning:
        return text, ""
    return answer.strip("\n"), "\n".join(part.strip() for part in reasoning).strip()


def reasoning_field(message: dict[str, Any]) -> str:
    """The reasoning that a server keeps in a field of its own, whatever it calls it."""
    for name in _FIELDS:
        value = message.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def content_text(content: object) -> tuple[str | None, str]:
    """(answer, reasoning) of a message's `content`: a text, or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        return None, ""
    answer, reasoning = [], []
    for part in content:
        if not isinstance(part, dict):
            continue
        if part.get("type") == "text":
            answer.append(str(part.get("text", "")))
        elif part.get("type") in ("thinking", "reasoning"):
            inner = part.get("thinking", part.get("text", ""))
            reasoning.append(content_text(inner)[0] or "")
    return "".join(answer), "".join(reasoning)
