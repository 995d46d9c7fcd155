"""What the providers' modules share: reading JSON, errors, model names, reasoning and stop sequences."""

import functools
import json
import re
from typing import Any

from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import Malformed, OtherModel
from triathlon_runner.endpoints._http_errors import HttpFailure, classify_http_error, read_failure
from triathlon_runner.endpoints.provider import HttpReply, ParsedReply
from triathlon_runner.pasted_keys import remove_keys
from triathlon_runner.records import Finish, Reply, Usage

_REASONING_TAGS = r"think|thinking|thought|reasoning|seed:think"
_OPEN = re.compile(rf"(?:<({_REASONING_TAGS})>|◁(think)▷)")
_ANY_CLOSE = re.compile(rf"</(?:{_REASONING_TAGS})>|◁/think▷")
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_VERSION = re.compile(r"(?:-latest|-preview|-0|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{3,8}|:[a-z]+)+$")


def read_error(reply: HttpReply, config: ApiConfig) -> ParsedReply:
    """Reads a reply whose status is no success; returns and raises what `classify_http_error` does."""
    return error_outcome(read_failure(reply.status, reply.body, reply.headers), config, config.model)


def error_outcome(failure: HttpFailure, config: ApiConfig, served_model: str) -> ParsedReply:
    """Returns and raises what `classify_http_error` does, for an error that has been read."""
    finish = classify_http_error(failure, config)
    return ParsedReply(Reply(text="", finish=finish), Usage(requests=1), served_model)


def read_json(raw: bytes) -> dict[str, Any]:
    """Returns the object that a reply with status 200 holds.

    Raises:
        Malformed: it holds none.
    """
    if not raw.strip():
        raise Malformed("an empty reply")
    try:
        body = json.loads(raw.decode("utf-8"))
    except ValueError as error:
        raise Malformed(f"a reply that is no JSON ({error}): {_beginning(raw)!r}") from None
    if not isinstance(body, dict):
        raise Malformed(f"a reply that is no JSON object but {type(body).__name__}")
    return body


def _beginning(raw: bytes) -> bytes:
    """The first 80 bytes of a reply, for a message; keys are removed before it is cut."""
    return remove_keys(raw[:2000].decode("utf-8", "backslashreplace")).encode()[:80]


def check_model(config: ApiConfig, served: str) -> None:
    """Raises `OtherModel` if a reply's name is neither related to the row's nor one of its `served_as`."""
    if not is_related(config.model, served) and served not in config.served_as:
        quoted = json.dumps(served, ensure_ascii=False)  # valid YAML, too, whatever the server sent
        raise OtherModel(
            f"asked for {config.model!r}, answered by {served!r}; if that is the same model, ask for it by"
            f" that name, or add `served_as: [{quoted}]` to the api block of its row"
        )


@functools.lru_cache(256)
def is_related(asked: str, served: str) -> bool:
    """Whether two names may mean one model: equal but for folder, case, date, build number or tag."""
    first, second = (_VERSION.sub("", name.lower().rpartition("/")[2]) for name in (asked, served))
    return first == second


def clean(text: str) -> str:
    """The text without lone surrogates, which no file could hold."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def count(value: object) -> int:
    """Returns a number of tokens; 0 where the value is not one."""
    return value if isinstance(value, int) and value > 0 else 0


def cut_at_stop(reply: Reply, stop: tuple[str, ...]) -> Reply:
    """The reply as a server that heeds every stop sequence would have ended it."""
    cuts = [position for sequence in stop if (position := reply.text.find(sequence)) >= 0]
    if not cuts:
        return reply
    finish = Finish.STOP if reply.finish is Finish.LENGTH else reply.finish
    return Reply(text=reply.text[: min(cuts)], reasoning=reply.reasoning, finish=finish)


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
    """Returns the reasoning that a server sends in a separate field, under any of its names."""
    for name in _REASONING_FIELDS:
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
