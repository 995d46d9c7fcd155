"""Reads the bytes of a reply: the object that a good one holds, what an error says, how long to wait."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from triathlon_runner import terminal
from triathlon_runner.foreign_files import parse_json
from triathlon_runner.llm._api import Malformed, ModelUnavailableError
from triathlon_runner.llm.provider import HttpReply
from triathlon_runner.pasted_keys import remove_keys

_SHOWN: Final = 300
"""Characters of a server's text that a message shows."""


def json_object(reply: HttpReply) -> dict[str, Any]:
    """Returns the object that a reply with status 200 holds.

    Raises:
        Malformed: it holds none.
    """
    if not reply.body.strip():
        raise Malformed("an empty reply")
    if reply.body.lstrip().startswith(b"data:"):
        raise ModelUnavailableError(
            "the server streams its replies (`data: …`) although it was not asked to: switch that off at the"
            " server, or ask it without the proxy that does so"
        )
    try:
        body = parse_json(reply.body.decode("utf-8-sig"))
    except ValueError as error:
        # Keys are removed before the text is cut: half of one would no longer look like a key.
        beginning = remove_keys(reply.body[:2000].decode("utf-8", "backslashreplace")).encode()[:80]
        raise Malformed(f"no JSON but {beginning!r} ({error})"[:300]) from None
    if not isinstance(body, dict):
        raise Malformed("no JSON object")
    return body


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as a server reported it, in whatever shape."""

    status: int
    """200 where an error in a good reply names none: only its text says what kind it is."""
    text: str
    """Codes and message: all that can be matched against."""
    quote: str
    """The server's message as part of a sentence, or that it gave none."""
    param: str
    wait: float | None
    """Seconds that the server asks us to wait."""
    location: str
    """The host that it redirects to."""


def read_failure(reply: HttpReply) -> Failure:
    """Reads message, code and parameter of an error body by OpenAI, Google, vLLM, FastAPI or a plain page."""
    status, headers, text = reply.status, reply.headers, reply.body.decode("utf-8", "replace")
    try:
        body = parse_json(text)
    except ValueError:
        body = " ".join(text.split())
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    fields: dict[str, Any] = error if isinstance(error, dict) else {"message": str(error)}
    message = str(fields.get("message") or fields.get("detail") or text)
    metadata = fields.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # what the provider behind OpenRouter said
        message = f"{message}: {metadata['raw']}"
    message = remove_keys(message)[:1000]  # keys first: half of one would no longer look like a key
    codes = [str(fields[name]) for name in ("code", "type", "status") if fields.get(name) is not None]
    if status == 200 and (named := next((code for code in codes if re.fullmatch("[45][0-9]{2}", code)), "")):
        status = int(named)
    quoted = repr(terminal.shortened(message, _SHOWN))
    return Failure(
        status,
        text=" ".join((*codes, message)),
        quote=f"the server said {quoted}" if message.strip() else "the server gave no reason",
        param=str(fields.get("param") or ""),
        wait=_wait(headers, text),
        location=urlsplit(headers.get("location", "")).netloc.rpartition("@")[2],
    )


_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_WAIT: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_WAIT_IN_TEXT: Final = re.compile(
    rf"(?:(?:try again|retry) (?:in|after) |\"retryDelay\":\s*\")((?:{_WAIT.pattern})+)", re.IGNORECASE
)


def _wait(headers: Mapping[str, str], text: str) -> float | None:
    """Returns the seconds to wait before the next request, by header or else by the error's text.

    A moment is one of the server's clock, whose `date` header says what it showed; ours may be wrong.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"\s*\d+(\.\d*)?\s*", value := headers.get(name, "")):
            return float(value) * unit
    if (moment := _moment(headers.get("retry-after", ""))) is not None:
        return max(0.0, moment - (_moment(headers.get("date", "")) or time.time()))
    match = _WAIT_IN_TEXT.search(text)
    return sum(float(number) * _UNITS[unit] for number, unit in _WAIT.findall(match[1])) if match else None


def _moment(text: str) -> float | None:
    """Returns the seconds since the epoch of an HTTP date; None for any other text."""
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
