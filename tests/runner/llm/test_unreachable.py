"""A server that is not there, goes away, lets us wait, or closes connections."""

import asyncio
import socket
import ssl
import struct
import time
from pathlib import Path

import pytest
import trustme

from support.model_server import ModelServer
from support.raw_server import listening
from support.server_replies import Asked, Reset, Response, Said, Status, too_many
from triathlon_runner.endpoints import (
    ApiConfig,
    Chat,
    EndpointError,
    Limits,
    Message,
    ModelUnavailableError,
    ReplyCache,
    Sampling,
    ServerUnreachableError,
    _client,
    open_model,
)
from triathlon_runner.errors import UserError
from triathlon_runner.records import Finish

GREEDY = Sampling(64)


def chat(text: str) -> Chat:
    return Chat((Message("user", text),))


async def refused(
    base_url: str, limits: Limits | None = None
) -> tuple[ModelUnavailableError, list[str], float]:
    """The error of a question to that address, the lines said, and the seconds until the first of both."""
    lines: list[str] = []
    began = time.monotonic()
    first: list[float] = []

    def say(line: str) -> None:
        lines.append(line)
        first.append(time.monotonic() - began)

    config = ApiConfig(base_url=base_url, model="m")
    async with open_model("m", "instruct", config, limits=limits, say=say) as model:
        with pytest.raises(ModelUnavailableError) as caught:
            await model.ask(chat("q"), GREEDY)
    return caught.value, lines, min([*first, time.monotonic() - began])


async def test_nobody_listens() -> None:
    """A port where nobody listens is said at once, tried for a short while, and worth another try later."""
    limits = Limits(first_contact_seconds=1.0)
    error, lines, seconds = await refused("http://127.0.0.1:9/v1", limits)
    assert isinstance(error, ServerUnreachableError)
    assert "http://127.0.0.1:9 refused the connection (is it running, and is the port right?)" in str(error)
    assert len(lines) == 1 and "m: no answer from the server" in lines[0]
    assert seconds < 3
    assert str(error).endswith("; run again later") and "for 1 s at most" in lines[0]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"", "closed the connection without a reply"),
        (
            b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"id"',
            "closed the connection in the middle of a reply",
        ),
    ],
)
async def test_a_reply_that_breaks_off(reply: bytes, words: str) -> None:
    """What the server did is said in words, without the name of a Python exception."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.05)  # the body of the question
        writer.write(reply)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with listening(serve) as port:
        limits = Limits(outage_seconds=2.0, first_contact_seconds=0.1)
        error, lines, _ = await refused(f"http://127.0.0.1:{port}/v1", limits)
    assert f"http://127.0.0.1:{port} {words}" in str(error)
    assert "Error" not in str(error)
    assert len(lines) == 1 and "trying again, for 2 s at most" in lines[0], "it was reached: --outage counts"
    assert str(error).endswith("; run again later, or wait longer than 2 s with --outage")


async def test_a_server_that_goes_away_before_its_first_answer() -> None:
    """It has listed its models, so it was reached: `--outage` counts, not the seconds of a first contact."""
    server = ModelServer(lambda asked: Reset())
    lines: list[str] = []
    async with server:
        config = ApiConfig(base_url=server.base_url, model="m")
        limits = Limits(outage_seconds=2.0, first_contact_seconds=0.1)
        opened = open_model("m", "instruct", config, limits=limits, say=lines.append)
        model = await opened.__aenter__()
        await model.identify_server()
    try:
        with pytest.raises(ServerUnreachableError):
            await model.ask(chat("q"), GREEDY)
    finally:
        await opened.__aexit__(None, None, None)
    assert "trying again, for 2 s at most" in lines[0]


async def test_no_such_host() -> None:
    """A host that cannot be found ends the model at once."""
    error, _, seconds = await refused("http://no-such-host.invalid/v1")
    assert "the host of http://no-such-host.invalid cannot be found" in str(error)
    assert seconds < 10


async def test_nothing_is_said_of_a_connection_that_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """`still connecting` comes only while a connection is being made, not after its error."""
    monkeypatch.setattr(_client, "_SLOW_CONNECT_SECONDS", 0.3)
    lines: list[str] = []
    config = ApiConfig(base_url="http://127.0.0.1:9/v1", model="m")
    limits = Limits(first_contact_seconds=0.6)
    async with open_model("m", "instruct", config, limits=limits, say=lines.append) as model:
        with pytest.raises(ModelUnavailableError):
            await model.ask(chat("q"), GREEDY)
        await asyncio.sleep(0.4)
    assert not [line for line in lines if "still connecting" in line]


async def test_untrusted_certificate() -> None:
    """A certificate that is not trusted ends the model at once, with the variable that would mend it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(serve, context) as port:
        error, _, _ = await refused(f"https://127.0.0.1:{port}/v1")
    assert not isinstance(error, ServerUnreachableError)
    assert "is not trusted" in str(error) and "SSL_CERT_FILE" in str(error)


@pytest.mark.parametrize(("text", "words"), [(None, "No such file"), ("no PEM", "no certificate in it")])
async def test_a_file_of_authorities_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, words: str
) -> None:
    """SSL_CERT_FILE that names a missing file, or one without a certificate, is said; http needs none."""
    file = tmp_path / "authorities.pem"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(UserError, match=rf"SSL_CERT_FILE .*authorities.pem': {words}.*unset SSL_CERT_FILE"):
        async with open_model("m", "instruct", ApiConfig(base_url="https://example.invalid/v1", model="m")):
            pass
    async with open_model("m", "instruct", ApiConfig(base_url="http://example.invalid/v1", model="m")):
        pass


async def test_http_where_tls_is_spoken() -> None:
    """A server that closes on plain HTTP may want TLS: the hint stands there, without a Python exception."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(serve, context) as port:
        error, _, _ = await refused(f"http://127.0.0.1:{port}/v1", Limits(outage_seconds=0.5))
    assert "without a reply; should it be https:// ?" in str(error) and "Error" not in str(error)


async def test_a_reset_connection() -> None:
    """A connection that the server resets is said in words, with the same hint."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    async with listening(serve) as port:
        error, _, _ = await refused(f"http://127.0.0.1:{port}/v1", Limits(outage_seconds=0.5))
    assert "reset the connection without a reply; should it be https:// ?" in str(error)


async def test_outage() -> None:
    """A server that has answered may be away; that is said once, its return too, and costs no question."""
    away = False
    lines: list[str] = []

    def script(asked: Asked) -> str | Response:
        return Reset() if away else f"echo {asked.prompt}"

    async with ModelServer(script) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        limits = Limits(first_wait=0.01, longest_wait=0.05, attempts=3, failures_in_a_row=3)
        async with open_model("m", "instruct", config, limits=limits, say=lines.append) as model:
            await model.ask(chat("before"), GREEDY)
            away = True
            asks = [asyncio.create_task(model.ask(chat(str(n)), GREEDY)) for n in range(2)]
            await asyncio.sleep(1.0)
            away = False
            assert [(await each).reply.text for each in asks] == ["echo 0", "echo 1"]
    assert [line.split(": ")[1].split(" after ")[0] for line in lines] == [
        "no answer from the server",  # not: for 0 s
        "the server answers again",
    ]
    assert "for 10 min at most" in lines[0]


async def test_outage_that_does_not_end() -> None:
    """Away for longer than is allowed stops the model, as one that is worth another try."""
    async with ModelServer(lambda asked: "yes" if asked.number == 0 else Status(503)) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        limits = Limits(first_wait=0.01, longest_wait=0.05, outage_seconds=0.5, attempts=100)
        async with open_model("m", "instruct", config, limits=limits) as model:
            await model.ask(chat("a"), GREEDY)
            with pytest.raises(ServerUnreachableError, match=r"no answer for .*503"):
                await model.ask(chat("b"), GREEDY)


async def test_a_kept_connection_that_was_closed() -> None:
    """A server that closes kept connections without a word costs no try, however often it does."""
    body = b'{"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}'
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))
            writer.write(reply)
            await writer.drain()
        await reader.readuntil(b"\r\n\r\n")  # the third question is read and never answered

    async with listening(serve) as port:
        local = ApiConfig(base_url=f"http://127.0.0.1:{port}/v1", model="m", concurrency=1)
        async with open_model("m", "instruct", local, engine="engine") as model:
            for number in range(12):
                assert (await model.ask(chat(str(number)), GREEDY)).reply.text == "yes"
            assert model.stats.retries == 0


@pytest.mark.parametrize(
    "said",
    [
        Said("x", headers={"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "23h59m"}),
        too_many(86_340.0),
    ],
    ids=["header", "429"],
)
async def test_a_wait_of_a_day(said: Response) -> None:
    """A server that asks for a longer wait than is allowed stops its model with the wait and what to do."""
    async with ModelServer(lambda asked: said) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        async with open_model("m", "instruct", config) as model:
            with pytest.raises(ServerUnreachableError, match=r"wait 23 h 59 min .*--longest-wait"):
                for text in ("a", "b"):
                    await model.ask(chat(text), GREEDY)
            assert server.count == 1


async def test_a_wait_is_shown() -> None:
    """A wait of some seconds that a server asks for is shown while it lasts."""
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "40s"}
    lines: list[str] = []
    async with ModelServer(lambda asked: Said("x", headers=headers)) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        async with open_model("m", "instruct", config, say=lines.append) as model:
            await model.ask(chat("a"), GREEDY)
    assert lines == ["m: waiting 40 s, as the server asks: its limit of requests or tokens is used up"]


async def test_a_wait_of_one_request_is_shown() -> None:
    """Also where the others go on: once, however many are held back."""
    lines: list[str] = []

    def script(asked: Asked) -> str | Response:
        return too_many(30) if asked.prompt in "01" else "yes"

    async with ModelServer(script) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        async with open_model("m", "instruct", config, say=lines.append) as model:
            held = [asyncio.create_task(model.ask(chat(str(n)), GREEDY)) for n in range(2)]
            await asyncio.gather(*(model.ask(chat(str(n)), GREEDY) for n in range(2, 30)))
            for one in held:
                one.cancel()
            await asyncio.gather(*held, return_exceptions=True)
    assert len(lines) == 1
    assert lines[0].startswith("m: a request waits 30 s, as the server asks; others go on: 429")


async def test_retry_after_holds_back_its_own_request() -> None:
    """One 429 that asks for a wait lets the other questions go on meanwhile."""

    def script(asked: Asked) -> str | Response:
        return too_many(2.0) if asked.prompt == "0" and not asked.attempt else "yes"

    async with ModelServer(script) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        async with open_model("m", "instruct", config) as model:
            held = asyncio.create_task(model.ask(chat("0"), GREEDY))
            await asyncio.gather(*(model.ask(chat(str(n)), GREEDY) for n in range(1, 30)))
            assert not held.done()
            assert (await held).reply.text == "yes"


@pytest.mark.parametrize("code", [400, 413])
async def test_the_same_unexplained_error(code: int) -> None:
    """Several questions in a row with one unexplained error stop the model with the server's words."""
    async with ModelServer(lambda asked: Status(code, "it does not please me")) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        async with open_model("m", "instruct", config) as model:
            for number in range(4):
                with pytest.raises(EndpointError) as caught:
                    await model.ask(chat(str(number)), GREEDY)
                assert not isinstance(caught.value, ModelUnavailableError)
            with pytest.raises(ModelUnavailableError, match=r"5 different questions.*it does not please me"):
                await model.ask(chat("5"), GREEDY)


async def test_unexplained_errors_with_answers_between() -> None:
    """Unexplained errors of single questions leave the model running."""

    def script(asked: Asked) -> str | Response:
        return Status(400, "not this one") if asked.prompt.startswith("bad") else "yes"

    async with ModelServer(script) as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        async with open_model("m", "instruct", config) as model:
            for number in range(10):
                with pytest.raises(EndpointError):
                    await model.ask(chat(f"bad {number}"), GREEDY)
                await model.ask(chat(f"good {number}"), GREEDY)
            assert not model.stats.stopped


@pytest.mark.parametrize("code", ["content_filter", "context_length_exceeded"])
async def test_errors_are_not_kept(code: str, tmp_path: Path) -> None:
    """An outcome that came as an HTTP error is asked for again; only replies are kept."""
    async with ModelServer(lambda asked: Status(400, "no", code) if not asked.attempt else "yes") as server:
        config = ApiConfig(base_url=server.base_url, model="m")
        with ReplyCache(tmp_path / "c.sqlite") as cache:
            async with open_model("m", "instruct", config, cache=cache) as model:
                first = await model.ask(chat("q"), GREEDY)
                assert first.reply.finish in (Finish.REFUSED, Finish.CONTEXT_OVERFLOW)
                assert (await model.ask(chat("q"), GREEDY)).reply.text == "yes"
