"""From the bytes of a reply to an answer, or to the reason why they are none."""

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import Malformed, OtherModel, Retryable
from triathlon_runner.endpoints._reasoning import content_text, reasoning_field, split_reasoning
from triathlon_runner.endpoints._refusals import failure_of, judge_failure
from triathlon_runner.endpoints._request import Question
from triathlon_runner.records import Finish, Reply, Usage

_FINISH = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "max_output_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.REFUSED,
    "refusal": Finish.REFUSED,
    "safety": Finish.REFUSED,
    "recitation": Finish.REFUSED,
    "prohibited_content": Finish.REFUSED,
    "blocklist": Finish.REFUSED,
    "sensitive": Finish.REFUSED,
}
_BROKEN = frozenset(
    ["error", "abort", "cancelled", "insufficient_system_resource", "malformed_function_call"]
)
"""Finish reasons with which a server says that it failed, not the model."""
_VERSION = re.compile(r"(?:-latest|-preview|-0|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{3,8}|:[a-z]+)+$")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply, and what was odd about it."""

    reply: Reply
    usage: Usage
    served_model: str
    oddities: tuple[str, ...] = ()
    is_null: bool = False
    """The server sent a whole reply without any content."""


def parse(raw: bytes, headers: Mapping[str, str], config: ApiConfig, question: Question) -> Parsed:
    """Reads a reply with status 200.

    Raises:
        Retryable: it is cut, empty, no JSON, holds no choice, or comes from another model.
        EndpointError: it is an error in disguise that another attempt cannot mend.
    """
    body = _json(raw)
    oddities: list[str] = []
    if isinstance(error := body.get("error"), dict) and not body.get("choices"):
        return _disguised(error, headers, config, body)
    served = clean(str(body.get("model") or ""))
    if not served:
        oddities.append("no model name")
    elif not is_related(config.model, served) and served not in config.served_as:
        raise OtherModel(
            f"asked for {config.model!r}, answered by {served!r}; if that is the same model, ask for it by"
            f" that name, or add `served_as: [{served}]` to the api block of its row"
        )
    choice = _choice(body, oddities)
    usage = _usage(body, oddities)
    finish = _finish(choice, usage, question.max_tokens, oddities)
    reply = _chat_reply(choice, finish) if question.is_chat else _text_reply(choice, finish)
    is_null = reply is None
    reply = cut_at_stop(reply or Reply(text=""), question.stop)
    return Parsed(reply, usage, served, tuple(oddities), is_null)


def clean(text: str) -> str:
    """The text without lone surrogates, which no file could hold."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@functools.lru_cache(256)
def is_related(asked: str, served: str) -> bool:
    """Whether two names may mean one model: equal but for folder, case, date, build number or tag."""
    first, second = (_VERSION.sub("", name.lower().rpartition("/")[2]) for name in (asked, served))
    return first == second


def cut_at_stop(reply: Reply, stop: tuple[str, ...]) -> Reply:
    """The reply as a server that heeds every stop sequence would have ended it."""
    cuts = [position for sequence in stop if (position := reply.text.find(sequence)) >= 0]
    if not cuts:
        return reply
    finish = Finish.STOP if reply.finish is Finish.LENGTH else reply.finish
    return Reply(text=reply.text[: min(cuts)], reasoning=reply.reasoning, finish=finish)


def _json(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        raise Malformed("an empty reply")
    try:
        body = json.loads(raw.decode("utf-8"))
    except ValueError as error:
        raise Malformed(f"a reply that is no JSON ({error}): {raw[:80]!r}") from None
    if not isinstance(body, dict):
        raise Malformed(f"a reply that is no JSON object but {type(body).__name__}")
    return body


def _disguised(
    error: dict[str, Any], headers: Mapping[str, str], config: ApiConfig, body: dict[str, Any]
) -> Parsed:
    code = str(error.get("code"))
    status = int(code) if code.isdigit() and 400 <= int(code) < 600 else 500
    finish = judge_failure(failure_of(status, error, headers, json.dumps(body)), config)
    return Parsed(Reply(text="", finish=finish), Usage(requests=1), str(body.get("model") or ""))


def _choice(body: dict[str, Any], oddities: list[str]) -> dict[str, Any]:
    choices = body.get("choices")
    if (
        not isinstance(choices, list)
        or not choices
        or not all(isinstance(choice, dict) for choice in choices)
    ):
        raise Malformed("a reply without choices")
    if len(choices) > 1:
        oddities.append(f"{len(choices)} choices where one was asked for; the first was taken")
    first: dict[str, Any] = min(choices, key=_index)
    return first


def _index(choice: dict[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _usage(body: dict[str, Any], oddities: list[str]) -> Usage:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        oddities.append("no usage")
        return Usage(requests=1, uncounted=1)
    details = usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else 0
    return Usage(
        requests=1,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(reasoning),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _finish(choice: dict[str, Any], usage: Usage, max_tokens: int, oddities: list[str]) -> Finish:
    said = choice.get("finish_reason") or choice.get("native_finish_reason")
    reason = str(said or "").lower()
    if reason in _BROKEN or isinstance(choice.get("error"), dict):
        raise Retryable(f"the server broke off the reply ({reason or 'error'})")
    if reason:
        return _FINISH.get(reason, Finish.STOP)
    oddities.append("no finish reason")
    return Finish.LENGTH if usage.output_tokens >= max_tokens else Finish.STOP


def _text_reply(choice: dict[str, Any], finish: Finish) -> Reply | None:
    text = choice.get("text")
    if isinstance(text, str):
        return Reply(text=clean(text), finish=finish)
    return None if finish is Finish.STOP else Reply(text="", finish=finish)


def _chat_reply(choice: dict[str, Any], finish: Finish) -> Reply | None:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Malformed("a choice without a message")
    content, inner = content_text(message.get("content"))
    aside = reasoning_field(message) or inner
    if message.get("refusal") and not content:
        return Reply(text=clean(str(message["refusal"])), reasoning=clean(aside), finish=Finish.REFUSED)
    if content is None:
        if finish is Finish.STOP and not aside and not message.get("tool_calls"):
            return None
        content = ""
    answer, tagged = split_reasoning(content)
    reasoning = "\n".join(part for part in (aside, tagged) if part)
    return Reply(text=clean(answer), reasoning=clean(reasoning), finish=finish)
