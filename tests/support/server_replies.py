"""What a scripted model server can answer: a good reply, or one of the ways in which servers misbehave."""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from aiohttp import web

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the server got it."""

    endpoint: Literal["chat", "completions"]
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    number: int
    """Position in the order of arrival, from 0."""
    attempt: int
    """How often the very same body came before, from 0."""

    @property
    def prompt(self) -> str:
        return str(self.body["prompt"] if "prompt" in self.body else self.body["messages"][-1]["content"])


class Response(Protocol):
    """Anything that a script may return besides a plain string."""

    async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse: ...


@dataclass(frozen=True, slots=True)
class Said:
    """A good answer, and with other values than the defaults a bad one."""

    text: str | None
    finish: str | None = "stop"
    reasoning: str | None = None
    input_tokens: int = 10
    output_tokens: int = 5
    model: str | None = None
    """The name that the server gives; by default the one that was asked for."""
    headers: Mapping[str, str] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Top-level fields of the body to set; the value None takes the field away."""

    def body(self, asked: Asked) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.text, "reasoning_content": self.reasoning}
        said = {"message": message} if asked.endpoint == "chat" else {"text": self.text}
        usage = {
            "prompt_tokens": self.input_tokens,
            "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
        }
        body = {
            "model": self.model or asked.body.get("model"),
            "choices": [{"index": 0, "finish_reason": self.finish, **said}],
            "usage": usage,
        }
        return {name: value for name, value in {**body, **self.changes}.items() if value is not None}

    async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        body = json.dumps(self.body(asked)).encode()
        return web.Response(body=body, content_type=JSON_TYPE, headers=dict(self.headers))


@dataclass(frozen=True, slots=True)
class Status:
    """An HTTP error with OpenAI's error body."""

    code: int
    message: str = "scripted error"
    error_code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        error = {"message": self.message, "code": self.error_code, "param": self.param, "type": "scripted"}
        body = json.dumps({"error": error}).encode()
        return web.Response(status=self.code, body=body, content_type=JSON_TYPE, headers=dict(self.headers))


def too_many(retry_after: float | None = None) -> Status:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Status(429, "Rate limit reached", "rate_limit_exceeded", headers=headers)


@dataclass(frozen=True, slots=True)
class Raw:
    """Any bytes under any content type: invalid JSON, an HTML page, an empty body, invalid UTF-8."""

    body: bytes
    content_type: str = JSON_TYPE

    async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        return web.Response(body=self.body, content_type=self.content_type)


@dataclass(frozen=True, slots=True)
class Reset:
    """Says nothing for so long, in seconds, then cuts the connection with a TCP reset."""

    after: float = 0.0

    async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        await asyncio.sleep(self.after)
        return abort(http)


@dataclass(frozen=True, slots=True)
class Half:
    """Announces the whole body, sends half of it, and cuts the connection."""

    text: str = "ok"

    async def send(self, http: web.BaseRequest, asked: Asked) -> web.StreamResponse:
        body = json.dumps(Said(self.text).body(asked)).encode()
        response = web.StreamResponse(headers={"Content-Type": JSON_TYPE, "Content-Length": str(len(body))})
        await response.prepare(http)
        await response.write(body[: len(body) // 2])
        return abort(http, response)


def abort(http: web.BaseRequest, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Resets the connection: with a linger time of 0 the kernel sends RST instead of FIN."""
    transport = http.transport
    if transport is not None:
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return response or web.Response()


KINDS: dict[str, type[Half | Raw | Reset | Said | Status]] = {
    kind.__name__: kind for kind in (Half, Raw, Reset, Said, Status)
}


def reply_of(value: Any) -> "str | Response":
    """The reply that a JSON value names: a text, or a kind and its fields: `{"Status": {"code": 500}}`.

    The body of a `Raw` one is JSON, or a text whose letters are its bytes.
    """
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    ((kind, fields),) = value.items()
    if kind == "Raw":
        body = fields["body"]
        fields = fields | {"body": (body if isinstance(body, str) else json.dumps(body)).encode("latin-1")}
    return KINDS[kind](**fields)
