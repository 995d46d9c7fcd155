"""One connection of HTTP/1.1, one question at a time; the parsing is llhttp's."""

import asyncio
import time
import zlib
from collections.abc import Callable

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from triathlon_runner.endpoints._errors import ConnectionClosed, Unreachable
from triathlon_runner.endpoints._http import HttpReply

LARGEST_REPLY = 16 * 2**20
"""Bytes; a server that sends more is not answering."""
_LARGEST_HEAD = 1 << 18
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_BROKEN = "the connection failed"


class Connection(asyncio.Protocol):
    """Sends a request, gives back the whole reply, and knows whether it can be used again."""

    __slots__ = (
        "_alarm", "_body", "_ended", "_framed", "_head", "_headers", "_loop", "_on_end", "_on_idle",
        "_parser", "_replies", "_reply", "_size", "_transport", "idle_since", "usable",
    )  # fmt: skip

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        on_idle: "Callable[[Connection], None]",
        on_end: "Callable[[Connection], None]",
    ) -> None:
        """Not yet connected; `on_end` is called when a connection that was there has ended."""
        self._loop, self._on_idle, self._on_end = loop, on_idle, on_end
        self._transport: asyncio.Transport | None = None
        self._parser = HttpResponseParser(self)
        self._reply: asyncio.Future[HttpReply] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._ended: asyncio.Future[None] = loop.create_future()
        self.usable = True
        """Whether another request can be sent once the reply is there."""
        self.idle_since = 0.0
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._head = self._framed = False
        self._replies = self._size = 0

    @property
    def connected(self) -> bool:
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the way to the server."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def send(self, request: bytes, seconds: float) -> "asyncio.Future[HttpReply]":
        """Sends a whole request; the reply, or `Unreachable` where none comes within so many seconds."""
        assert self._transport is not None and self._reply is None, "one question at a time"
        self._size = 0
        self._reply = self._loop.create_future()
        self._alarm = self._loop.call_later(seconds, self._fail, f"no whole reply within {seconds:g} s")
        self._reply.add_done_callback(self._let_go)
        self._transport.write(request)
        return self._reply

    def _let_go(self, reply: "asyncio.Future[HttpReply]") -> None:
        """Nobody waits for the reply any more: the server should not go on with it."""
        if reply.cancelled() and self._reply is reply:
            self._fail("nobody waits")

    def close(self) -> None:
        """Ends the connection at once, whatever is under way."""
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    async def ended(self) -> None:
        """Returns when a connection that was there is closed."""
        await self._ended

    def data_received(self, data: bytes) -> None:
        """Takes a piece of the reply."""
        if self._reply is None:
            self.close()  # a server that speaks unasked
            return
        self._size += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(f"{_BROKEN}: {type(error).__name__} {error}".strip())
            return
        if self._reply is not None and self._size > LARGEST_REPLY + _LARGEST_HEAD:
            self._fail(f"{_BROKEN}: a reply of more than {LARGEST_REPLY} bytes")

    def connection_lost(self, error: Exception | None) -> None:
        """The end; also that of a body that nothing else ends."""
        self.usable = False
        if self._reply is not None and error is None and self._head and not self._framed:
            self._finish()
        said = f"{type(error).__name__} {error}" if error else "closed before the reply was whole"
        was_closed = self._replies > 0 and not self._size
        self._fail(f"{_BROKEN}: {said}", ConnectionClosed if was_closed else Unreachable)
        self._ended.set_result(None)
        self._on_end(self)

    # What follows is called by the parser.

    def on_message_begin(self) -> None:
        """A reply, or one too many."""
        if self._reply is None:
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        key = name.decode("latin-1").lower()
        self._headers[key] = value.decode("latin-1")
        self._framed = self._framed or key in ("content-length", "transfer-encoding")

    def on_headers_complete(self) -> None:
        """The body follows."""
        self._head = True

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """The reply is whole, or it only said that one will come."""
        if 100 <= self._parser.get_status_code() < 200:
            self._begin()  # the reply itself is still to come
        elif self._reply is not None:
            assert self._transport is not None
            self.usable = self._parser.should_keep_alive() and not self._transport.get_write_buffer_size()
            self._finish()

    def _begin(self) -> None:
        self._headers, self._body = {}, []
        self._head = self._framed = False

    def _finish(self) -> None:
        headers = self._headers
        try:
            body = unpacked(b"".join(self._body), headers.get("content-encoding", ""))
        except (zlib.error, ValueError) as error:
            self._fail(f"{_BROKEN}: {error}")
            return
        reply = self._settled()
        self._replies += 1
        if self.usable:
            self._on_idle(self)
        else:
            self.close()
        if reply is not None:
            reply.set_result(HttpReply(self._parser.get_status_code(), body, headers))

    def _fail(self, reason: str, error: type[Unreachable] = Unreachable) -> None:
        reply = self._settled()
        if reply is not None:
            reply.set_exception(error(reason))
        self.close()

    def _settled(self) -> "asyncio.Future[HttpReply] | None":
        """The reply that somebody still waits for, which ends here."""
        reply, self._reply = self._reply, None
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._begin()
        self.idle_since = time.monotonic()
        return None if reply is None or reply.done() else reply


def unpacked(body: bytes, encoding: str) -> bytes:
    """The body without its compression, which must not make it longer than any answer.

    Raises:
        ValueError: it is packed in a way that was not asked for, or too long.
        zlib.error: it is not packed at all.
    """
    kind = encoding.strip().lower()
    if kind in ("gzip", "x-gzip", "deflate"):
        bare = kind == "deflate" and body[:1] and body[0] & 0x0F != zlib.DEFLATED
        body = zlib.decompressobj(-zlib.MAX_WBITS if bare else _GZIP_OR_ZLIB).decompress(
            body, LARGEST_REPLY + 1
        )
    elif kind not in ("", "identity"):
        raise ValueError(f"a reply in the unknown encoding {encoding!r}")
    if len(body) > LARGEST_REPLY:
        raise ValueError(f"a reply of more than {LARGEST_REPLY} bytes")
    return body
