"""Asking a scripted server: what each reply leads to, and how many requests that takes."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.model_server import ModelServer, Script
from support.opened import opened
from support.server_replies import Asked, Raw, Reset, Response, Said, Status, reply_of
from support.server_scripts import FAULTS, echo
from triathlon_runner.errors import UserError
from triathlon_runner.llm import (
    Chat,
    Completion,
    EndpointError,
    Limits,
    Message,
    ModelSettings,
    ModelUnavailableError,
    OpenAI,
    ReplyCache,
    Sampling,
    ServerUnreachableError,
    open_model,
)
from triathlon_runner.records import Finish

QUICK = Limits(first_wait=0.001, longest_wait=0.002, failures_in_a_row=100)
GREEDY = Sampling(max_tokens=64)


def chat(text: str, turn: int = 0) -> Chat:
    return Chat((Message("user", text),), turn)


def one_by_one(responses: list[Response | str]) -> Script:
    """Says one after the other, the last again and again."""
    return lambda asked: responses[min(asked.number, len(responses) - 1)]


MACHINERY = (*FAULTS, Raw(b"[" * 100_000), Raw(b" " * 17_000_000))
SITUATIONS = json.loads(Path(__file__).with_name("situations.json").read_text())
SITUATIONS += [
    {"case": repr(bad)[:40], "says": [bad, "good"], "outcome": "stop: good", "requests": 2}
    for bad in MACHINERY
]


@pytest.mark.parametrize("case", SITUATIONS, ids=lambda case: case["case"])
async def test_what_a_reply_leads_to(case: dict[str, Any]) -> None:
    """A failure of the machinery is asked again or named; what the model did is its outcome."""
    responses = [reply_of(said) for said in case["says"]]
    seconds = 0.3 if responses == [Reset(30)] else 30.0
    async with opened(one_by_one(responses), limits=QUICK, timeout_seconds=seconds) as (server, model):
        try:
            answer = await model.ask(chat("q"), GREEDY)
            got = f"{answer.reply.finish}: {answer.reply.text}"
            assert not model.stats.retried_error, "it is not why units are open"
        except EndpointError as error:
            got = f"{type(error).__name__}: {error}"
            assert str(error) in (model.stats.stopped, model.stats.last_error)
            if isinstance(error, ModelUnavailableError):  # then no other question is sent
                with pytest.raises(type(error)):
                    await model.ask(chat("another"), GREEDY)
        assert got.startswith(case["outcome"]), got
        assert server.count == case["requests"]


async def test_a_model_that_is_replaced_in_the_middle() -> None:
    """Replies by another model in a row stop it: each may be charged for, as one that was broken off."""
    half = Said("half an ans", finish="error")
    responses: list[Response | str] = ["first", half, Said("x", model="gpt-5-cheap")]
    async with opened(one_by_one(responses), limits=Limits(first_wait=0.001)) as (server, model):
        await model.ask(chat("q"), GREEDY)
        with pytest.raises(ModelUnavailableError, match="replies are not by the model that was asked for"):
            await model.ask(chat("another"), GREEDY)
        assert (server.count, model.stats.lost) == (14, 13)


async def test_a_page_in_place_of_replies_stops_its_model_after_one_question() -> None:
    """However few its tries are: no reply of the server could be read before."""
    async with opened(lambda _: Raw(b"<html>"), limits=Limits(first_wait=0.01, attempts=2)) as (_, model):
        with pytest.raises(ModelUnavailableError, match="look at base_url and provider"):
            await model.ask(chat("q"), GREEDY)


SYSTEM = Chat((Message("system", "be brief"), Message("user", "hi \ud800")))
WHOLE = {"max_tokens": 9, "temperature": 0.8, "top_p": 0.95, "seed": 7}
TURNS = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi \ufffd"}]
MERGED = [{"role": "user", "content": "be brief\n\nhi \ufffd"}]
ODD_ROW = {
    "unsupported": ("temperature", "top_p", "seed"),
    "max_tokens_field": "max_completion_tokens",
    "reasoning_effort": "high",
    "reasoning_max_tokens": 1000,
    "body": {"top_k": 1},
    "headers": {"X-Title": "Triathlon"},
}
ODD = {"max_completion_tokens": 1009, "reasoning_effort": "high", "top_k": 1}


@pytest.mark.parametrize(
    ("kind", "prompt", "row", "merges", "sent"),
    [
        ("instruct", SYSTEM, {}, False, {"messages": TURNS, **WHOLE}),
        ("base", Completion("f\n"), {}, False, {"prompt": "f\n", **WHOLE, "stop": ["END", "#"]}),
        ("base", Completion("x"), {"unsupported": ("stop",)}, False, {"prompt": "x", **WHOLE}),
        ("instruct", SYSTEM, ODD_ROW, True, {"messages": MERGED, **ODD}),
    ],
    ids=["chat", "completion", "no stop strings", "row"],
)
async def test_what_is_sent(kind: Any, prompt: Any, row: dict[str, Any], merges: bool, sent: Any) -> None:
    """What a provider refuses is left out or renamed; stop strings go to base models alone."""
    settings = ModelSettings(merges_system=merges)
    async with opened(lambda _: "A END B", kind, settings=settings, **row) as (server, model):
        answer = await model.ask(prompt, Sampling(9, 0.8, 0.95, ("END", "#"), 7))
    (asked,) = server.requests
    assert asked.body == {"model": "scripted", **sent}
    assert asked.endpoint == ("chat" if kind == "instruct" else "completions")
    assert ("X-Title" in asked.headers) is ("headers" in row)
    assert (answer.reply.text, answer.reply.finish) == ("A ", Finish.STOP)
    assert (answer.usage.requests, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 10, 5)


async def test_a_context_that_a_row_states() -> None:
    """A refused question is an outcome where the row's context says that the model can do no more."""
    said = Status(400, "This model's maximum context length is 512 tokens, your prompt contains 600 tokens")
    async with opened(
        lambda asked: said if asked.prompt == "long" else Said("cut", finish="length"),
        settings=ModelSettings(context=16),
    ) as (_, model):
        assert (await model.ask(chat("long"), GREEDY)).reply.finish is Finish.CONTEXT_OVERFLOW
        await model.ask(chat("short"), GREEDY)
        assert (model.stats.too_long, model.stats.cut_by_context, model.stats.truncated) == (1, 1, 0)
        await model.ask(chat("short"), Sampling(max_tokens=5))
        assert (model.stats.cut_by_context, model.stats.truncated) == (1, 1)


@pytest.mark.parametrize("code", [400, 413])
async def test_the_same_unexplained_error(code: int) -> None:
    """Five questions in a row with one unexplained error stop the model; answers between them do not."""

    def script(asked: Asked) -> str | Response:
        return echo(asked) if asked.prompt.startswith("good") else Status(code, "it does not please me")

    async with opened(script) as (_, model):
        for number in range(9):
            with pytest.raises(EndpointError) as caught:
                await model.ask(chat(f"bad {number}"), GREEDY)
            assert not isinstance(caught.value, ModelUnavailableError)
            if number < 5:
                await model.ask(chat(f"good {number}"), GREEDY)
        with pytest.raises(ModelUnavailableError, match=r"5 different questions.*it does not please me"):
            await model.ask(chat("bad 9"), GREEDY)


async def test_a_server_that_goes_away_and_comes_back() -> None:
    """An outage begins when it is first seen, not when the lost question was sent; it costs no answers."""
    lines: list[str] = []
    away = False

    async def script(asked: Asked) -> str | Response:
        if asked.prompt == "slow" and not asked.attempt:
            await asyncio.sleep(0.6)
        return Reset() if away else echo(asked)

    limits = Limits(first_wait=0.02, longest_wait=0.05, outage_seconds=0.5, failures_in_a_row=1)
    async with opened(script, model="m", limits=limits, say=lines.append) as (_, model):
        slow = asyncio.create_task(model.ask(chat("slow"), GREEDY))
        await asyncio.sleep(0.55)
        away = True
        await asyncio.sleep(0.25)
        away = False
        assert (await slow).reply.text == "echo: slow"
        away = True
        with pytest.raises(ServerUnreachableError, match="given up"):
            await model.ask(chat("b"), GREEDY)
    assert "trying again" in lines[0] and "answers again" in lines[1]


CLOSED = "127.0.0.1:CLOSED"
"""A port where nobody listens."""


@pytest.mark.parametrize(
    ("address", "proxy", "first", "says"),
    [
        (f"http://{CLOSED}", "", "question", r"refused the connection .*; run again later$"),
        (f"http://{CLOSED}", "", "list of models", r"refused the connection .*; run again later$"),
        ("http://no-such-host.invalid", "", "question", r"the host of http://no-such-host.invalid"),
        ("http://x.invalid", f"http://{CLOSED}", "question", r"proxy on the way to \S+ .* refused the conn"),
        ("https://127.0.0.1:PLAIN", "", "question", r"no TLS connection to .* should it be http:// "),
        ("http://127.0.0.1:PLAIN", "", "question", r"closed the connection .* should it be https:// "),
    ],
    ids=["question", "list", "no host", "proxy", "no TLS", "TLS"],
)
async def test_nobody_listens(
    monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int, address: str, proxy: str, first: str, says: str
) -> None:
    """Who is not reached is said at once, tried for a short while, and worth another try later.

    A host that cannot be found ends the model at once. Of a proxy it is not said of the server behind it.
    """
    lines: list[str] = []
    limits = Limits(first_wait=0.01, first_contact_seconds=0.2)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy.replace("CLOSED", f"{unused_tcp_port}"))
    async with ModelServer(lambda _: Reset()) as plain:
        port = urlsplit(plain.base_url).port
        address = address.replace("CLOSED", f"{unused_tcp_port}").replace("PLAIN", f"{port}")
        config = OpenAI(base_url=f"{address}/v1", model="x")
        async with open_model("m", "instruct", config, limits=limits, say=lines.append) as model:
            with pytest.raises(ModelUnavailableError, match=says) as caught:
                await (model.ask(chat("q"), GREEDY) if first == "question" else model.identify_server())
    if "no-such-host" not in address:
        assert isinstance(caught.value, ServerUnreachableError)
        assert len(lines) == 1 and "no answer from the server" in lines[0]


async def test_authorities_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """SSL_CERT_FILE counts on this machine, too, where the server speaks TLS."""
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)
    async with open_model("m", "instruct", OpenAI(base_url="http://127.0.0.1:1/v1", model="m")):
        pass
    with pytest.raises(UserError, match="authorities in SSL_CERT_FILE"):
        async with open_model("m", "instruct", OpenAI(base_url="https://127.0.0.1:1/v1", model="m")):
            pass


async def test_equal_questions_are_asked_once(tmp_path: Path) -> None:
    """Equal greedy questions are one, stored or in flight; samples, turns and limits make others."""
    async with ModelServer(echo, latency=0.05) as server:
        config = OpenAI(base_url=server.base_url, model="scripted")
        with ReplyCache(tmp_path / "c.sqlite") as cache:
            async with open_model("m", "instruct", config, cache=cache) as model:
                answers = await asyncio.gather(*(model.ask(chat("q"), GREEDY, sample=n) for n in range(20)))
                assert (server.count, model.stats.from_cache) == (1, 19)
                assert not any(answer.from_earlier_run for answer in answers)
                warm = Sampling(64, temperature=0.8)
                for sample in (0, 1, 1):
                    await model.ask(chat("q"), warm, sample=sample)
                await model.ask(chat("q"), Sampling(65, temperature=0.8), sample=1)
                await model.ask(chat("q", turn=1), GREEDY)
                assert server.count == 5
            async with open_model("m", "instruct", config, cache=cache) as model:
                assert (await model.ask(chat("q"), GREEDY)).from_earlier_run
            free = config.model_copy(update={"unsupported": ("temperature",)})
            async with open_model("m", "instruct", free, cache=cache) as model:
                await asyncio.gather(*(model.ask(chat("q"), GREEDY, sample=n) for n in range(3)))
    assert server.count == 8


async def test_a_server_of_ours(tmp_path: Path) -> None:
    """It gets all its slots at once; its replies are found under another port, not with other weights."""
    counts, ours = [], ModelSettings(engine="vllm")
    with ReplyCache(tmp_path / "c.sqlite") as cache:
        for revision in ("one", "one", "two"):
            row: dict[str, Any] = {"model": "m", "revision": revision, "concurrency": 10}
            async with opened(echo, latency=0.02, settings=ours, cache=cache, **row) as (server, model):
                await asyncio.gather(*(model.ask(chat(str(n)), GREEDY) for n in range(60)))
            counts.append((server.count, server.most_in_flight))
            stats, count = model.stats, server.count
            assert (stats.in_flight, stats.answered, stats.retries) == (0, count, 0)
            assert (stats.input_tokens, stats.output_tokens) == (10 * count, 5 * count)
            assert bool(stats.tokens_per_second) is bool(count)
    assert counts == [(60, 10), (0, 0), (60, 10)]


@pytest.mark.parametrize("leaves", [0, 1])
async def test_giving_up_one_of_two_equal_questions(leaves: int) -> None:
    async with opened(echo, latency=0.3) as (server, model):
        asks = [asyncio.create_task(model.ask(chat("q"), GREEDY)) for _ in range(2)]
        while not server.count:  # noqa: ASYNC110  the server knows no events
            await asyncio.sleep(0.005)
        asks[leaves].cancel()
        assert (await asks[1 - leaves]).reply.text == "echo: q"
        assert (model.stats.in_flight, server.count) == (0, 2 - leaves)
