"""What every provider's replies are read into, and what is read alike in all of them."""

import functools
import json
import re
from dataclasses import dataclass
from typing import Any

from triathlon_runner.endpoints._client import HttpReply
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import Malformed, OtherModel
from triathlon_runner.endpoints._refusals import HttpFailure, classify_http_error, read_failure
from triathlon_runner.records import Finish, Reply, Usage

_VERSION = re.compile(r"(?:-latest|-preview|-0|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{3,8}|:[a-z]+)+$")


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A reply, and what was odd about it."""

    reply: Reply
    usage: Usage
    served_model: str
    oddities: tuple[str, ...] = ()
    is_empty: bool = False
    """The server sent a whole reply without any content."""


def read_error(reply: HttpReply, config: ApiConfig) -> ParsedReply:
    """Reads a reply whose status is no success.

    Returns:
        The model's own outcome: its context is too short, or the content of the request was refused.

    Raises:
        Retryable: another attempt may do better.
        ModelUnavailableError: no other question will do better either.
        UnexplainedError: this question cannot be asked.
    """
    return error_outcome(read_failure(reply.status, reply.body, reply.headers), config, config.model)


def error_outcome(failure: HttpFailure, config: ApiConfig, served_model: str) -> ParsedReply:
    """The same for an error that has been read."""
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
        raise Malformed(f"a reply that is no JSON ({error}): {raw[:80]!r}") from None
    if not isinstance(body, dict):
        raise Malformed(f"a reply that is no JSON object but {type(body).__name__}")
    return body


def check_model(config: ApiConfig, served: str) -> None:
    """Refuses a reply in another model's name.

    Raises:
        OtherModel: the name is neither related to the row's nor one of its `served_as`.
    """
    if not is_related(config.model, served) and served not in config.served_as:
        raise OtherModel(
            f"asked for {config.model!r}, answered by {served!r}; if that is the same model, ask for it by"
            f" that name, or add `served_as: [{served}]` to the api block of its row"
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
    """A number of tokens; 0 for what is none."""
    return value if isinstance(value, int) and value > 0 else 0


def cut_at_stop(reply: Reply, stop: tuple[str, ...]) -> Reply:
    """The reply as a server that heeds every stop sequence would have ended it."""
    cuts = [position for sequence in stop if (position := reply.text.find(sequence)) >= 0]
    if not cuts:
        return reply
    finish = Finish.STOP if reply.finish is Finish.LENGTH else reply.finish
    return Reply(text=reply.text[: min(cuts)], reasoning=reply.reasoning, finish=finish)
