"""Asking a scripted server."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.model_server import ModelServer, Script
from support.server_replies import Asked, Drip, Half, Hang, Raw, Reset, Response, Said, Status, too_many
from triathlon_runner.endpoints import (
    Answer,
    ApiConfig,
    Chat,
    Completion,
    EndpointError,
    Limits,
    Message,
    Model,
    ModelUnavailableError,
    OpenAIModel,
    ReplyCache,
    Sampling,
    ServerUnreachableError,
    open_model,
)
from triathlon_runner.records import Finish

QUICK = Limits(first_wait=0.01, longest_wait=0.05, outage_seconds=1.0)
GREEDY = Sampling(max_tokens=64)


def chat(text: str) -> Chat:
    return Chat((Message("user", text),))


def echo(asked: Asked) -> str:
    return f"echo {asked.prompt}"


def once(bad: Response) -> Script:
    """Misbehaves the first time that a question comes."""
    return lambda asked: echo(asked) if asked.attempt else bad


async def ask_one(
    script: Script, limits: Limits = QUICK, **settings: object
) -> tuple[Answer, ModelServer, OpenAIModel]:
    async with ModelServer(script) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted", **settings)  # type: ignore[arg-type]
        async with open_model("m", "instruct", config, limits=limits) as model:
            return await model.ask(chat("q"), GREEDY), server, model


async def test_is_a_model() -> None:
    """What `open_model` gives is what a discipline awaits."""
    config = ApiConfig(base_url="http://127.0.0.1:1/v1", model="x")
    async with open_model("some-id", "base", config) as opened:
        model: Model = opened
        assert (model.id, model.kind) == ("some-id", "base")


async def test_chat() -> None:
    """A conversation goes to the chat endpoint, with every setting of the protocol."""
    async with ModelServer(echo) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config) as model:
            prompt = Chat((Message("system", "be brief"), Message("user", "hi")))
            answer = await model.ask(prompt, Sampling(9, 0.8, 0.95, ("[/ANSWER]",), 7))
    (asked,) = server.requests
    assert asked.endpoint == "chat"
    assert asked.body == {
        "model": "scripted",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "max_tokens": 9,
        "temperature": 0.8,
        "top_p": 0.95,
        "stop": ["[/ANSWER]"],
        "seed": 7,
    }
    assert (answer.reply.text, answer.reply.finish) == ("echo hi", Finish.STOP)
    assert (answer.usage.requests, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 10, 5)
    assert answer.served_model == "scripted"
    assert 0 < answer.seconds < 10


async def test_completion() -> None:
    """A text to go on with goes to the completions endpoint."""
    async with ModelServer(lambda asked: "    return 1") as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "base", config) as model:
            answer = await model.ask(Completion("def f():\n"), GREEDY)
    assert server.requests[0].endpoint == "completions"
    assert server.requests[0].body["prompt"] == "def f():\n"
    assert answer.reply.text == "    return 1"


async def test_row_settings() -> None:
    """What a provider refuses is left out or renamed, what it wants besides is added."""
    async with ModelServer(lambda asked: "done [/ANSWER] more") as server:
        config = ApiConfig(
            base_url=server.base_url,
            model="scripted",
            unsupported=("temperature", "top_p", "seed", "stop"),
            max_tokens_field="max_completion_tokens",
            reasoning_effort="high",
            reasoning_max_tokens=1000,
            body={"top_k": 1},
            headers={"X-Title": "Triathlon"},
        )
        async with open_model("m", "instruct", config) as model:
            answer = await model.ask(chat("q"), Sampling(24, stop=("[/ANSWER]",), seed=1))
    (asked,) = server.requests
    assert {name: asked.body[name] for name in asked.body if name not in ("model", "messages")} == {
        "max_completion_tokens": 1024,
        "reasoning_effort": "high",
        "top_k": 1,
    }
    assert asked.headers["X-Title"] == "Triathlon"
    assert answer.reply.text == "done "


async def test_few_stop_sequences() -> None:
    """Of more stop sequences than a provider takes, the rest is applied here."""
    async with ModelServer(lambda asked: "x STOP3 y") as server:
        config = ApiConfig(base_url=server.base_url, model="scripted", max_stop_sequences=2)
        async with open_model("m", "instruct", config) as model:
            answer = await model.ask(chat("q"), Sampling(24, stop=("STOP1", "STOP2", "STOP3")))
    assert server.requests[0].body["stop"] == ["STOP1", "STOP2"]
    assert answer.reply.text == "x "


@pytest.mark.parametrize(
    "bad",
    [
        Status(500),
        Status(503, headers={"Retry-After": "0.02"}),
        Status(529),
        Status(408),
        Status(409),
        too_many(),
        too_many(0.02),
        Reset(),
        Half(),
        Raw(b""),
        Raw(b"{'no': json}"),
        Raw(b"<html>busy</html>", "text/html"),
        Raw(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
        Raw(b'{"error": {"code": 502, "message": "upstream"}}'),
        Said("x", choices=0),
        Said(None),
        Said("x", model="another-model"),
        Said("half an ans", finish="error"),
        Hang(0.05),
    ],
    ids=str,
)
async def test_tried_again(bad: Response) -> None:
    """A failure of the machinery is tried again, and the reply is that of a calm server."""
    answer, server, model = await ask_one(once(bad))
    assert answer.reply.text == "echo q"
    assert server.count == 2
    assert model.stats.retries == 1 and model.stats.last_error


@pytest.mark.parametrize("bad", [Said(None), Status(500), too_many(0.01)], ids=["empty", "500", "429"])
async def test_retries_are_counted(bad: Response) -> None:
    """A retry is a request that repeats another: the first try of a question is none."""
    limits = Limits(attempts=3, throttled_attempts=3, first_wait=0.01, longest_wait=0.02)
    async with ModelServer(lambda asked: bad) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config, limits=limits) as model:
            with pytest.raises(EndpointError):
                await model.ask(chat("q"), GREEDY)
        assert model.stats.retries == server.count - 1 > 0


async def test_hanging_server() -> None:
    """A server that says nothing is not waited for longer than the row says."""
    answer, _, model = await ask_one(once(Hang(30)), timeout_seconds=0.2)
    assert answer.reply.text == "echo q"
    assert "no whole reply within 0.2 s (allow more with --timeout" in model.stats.last_error


async def test_slow_drip() -> None:
    """The time-out counts to the last byte; within it a slow reply is as good as any."""
    answer, server, _ = await ask_one(once(Drip("drop by drop", seconds=0.3)))
    assert (answer.reply.text, server.count) == ("drop by drop", 1)
    patient = replace(QUICK, outage_seconds=60.0)  # on a busy machine the second try may be late, too
    answer, server, _ = await ask_one(once(Drip("drop by drop", seconds=20)), patient, timeout_seconds=1)
    assert answer.reply.text == "echo q" and server.count >= 2


async def test_wrong_content_type_with_good_json() -> None:
    """A good answer under a wrong content type is a good answer."""

    class Plain(Said):
        async def send(self, http, asked):  # type: ignore[no-untyped-def]
            response = await super().send(http, asked)
            response.content_type = "text/plain"
            return response

    answer, server, _ = await ask_one(lambda asked: Plain("fine"))
    assert (answer.reply.text, server.count) == ("fine", 1)


async def test_endless_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply larger than any answer is not read to its end."""
    monkeypatch.setattr("triathlon_runner.endpoints._client.LARGEST_REPLY", 100_000)
    answer, server, _ = await ask_one(once(Raw(b" " * 1_000_000)))
    assert (answer.reply.text, server.count) == ("echo q", 2)


async def test_null_again_and_again() -> None:
    """A model that says nothing however often it is asked has answered nothing."""
    answer, server, _ = await ask_one(lambda asked: Said(None))
    assert (answer.reply.text, answer.reply.finish) == ("", Finish.STOP)
    assert (answer.usage.output_tokens, answer.seconds > 0) == (5, True)
    assert server.count == 5


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        (
            Status(400, "maximum context length is 10 tokens", "context_length_exceeded"),
            Finish.CONTEXT_OVERFLOW,
        ),
        (Status(400, "filtered", "content_filter"), Finish.REFUSED),
        (Said("", finish="content_filter"), Finish.REFUSED),
        (Said(None, refusal="no"), Finish.REFUSED),
        (Said("cut off", finish="length"), Finish.LENGTH),
        (Said("<think>long thou", finish="length"), Finish.LENGTH),
    ],
    ids=str,
)
async def test_outcomes_of_the_model(said: Response, finish: Finish) -> None:
    """Overflow, refusal and truncation are the model's own: asked once, answered."""
    answer, server, _ = await ask_one(lambda asked: said)
    assert answer.reply.finish is finish
    assert server.count == 1


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (Status(401, "bad key", "invalid_api_key"), "not accepted"),
        (Status(403, "no"), "no access"),
        (Status(404, "The model does not exist", "model_not_found"), "does not know the model"),
        (Status(429, "pay first", "insufficient_quota"), "quota"),
        (Status(400, "Unsupported value", "unsupported_value", "temperature"), "unsupported: [temperature]"),
        (too_many(7200.0), "2 h 0 min"),
    ],
    ids=str,
)
async def test_stops_at_once(said: Status, says: str) -> None:
    """What only a user can mend stops the model: no further question is sent, and the message says why."""
    async with ModelServer(lambda asked: said) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config, limits=QUICK) as model:
            with pytest.raises(ModelUnavailableError) as caught:
                await model.ask(chat("a"), GREEDY)
            assert says in str(caught.value)
            count = server.count
            with pytest.raises(ModelUnavailableError):
                await model.ask(chat("b"), GREEDY)
            assert server.count == count == 1
            assert says in model.stats.stopped


async def test_gives_up_one_question() -> None:
    """A question that fails however often it is asked is given up; the model goes on."""

    def script(asked: Asked) -> str | Response:
        return Status(500, "cannot do this one") if asked.prompt == "poison" else echo(asked)

    async with ModelServer(script) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        limits = Limits(attempts=3, first_wait=0.01)
        async with open_model("m", "instruct", config, limits=limits) as model:
            with pytest.raises(EndpointError, match="cannot do this one") as caught:
                await model.ask(chat("poison"), GREEDY)
            assert not isinstance(caught.value, ModelUnavailableError)
            assert server.count == 3
            assert (await model.ask(chat("fine"), GREEDY)).reply.text == "echo fine"
            assert model.stats.failed == 1


@pytest.mark.parametrize(
    "script", [lambda asked: Reset(), lambda asked: Raw(b"nonsense", code=502)], ids=["reset", "nonsense"]
)
async def test_dead_endpoint(script: Callable[[Asked], Response]) -> None:
    """An endpoint that never answers stops its model after a while, with the last error."""
    async with ModelServer(script) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        limits = Limits(
            first_wait=0.01, longest_wait=0.05, outage_seconds=0.5, first_contact_seconds=0.5, attempts=1000
        )
        async with open_model("m", "instruct", config, limits=limits) as model:
            asks = [model.ask(chat(str(n)), GREEDY) for n in range(40)]
            errors = await asyncio.gather(*asks, return_exceptions=True)
            assert all(isinstance(error, ModelUnavailableError) for error in errors)
            assert ", given up: " in model.stats.stopped
        assert server.count < 100


async def test_refused_connection() -> None:
    """Where nothing listens, questions fail by name."""
    config = ApiConfig(base_url="http://127.0.0.1:9/v1", model="x")
    async with open_model(
        "m", "instruct", config, limits=Limits(first_wait=0.01, first_contact_seconds=0.2)
    ) as model:
        with pytest.raises(ServerUnreachableError, match=r"http://127.0.0.1:9 refused the connection"):
            await model.ask(chat("q"), GREEDY)


async def test_outage() -> None:
    """A server that goes away and comes back costs time, not answers."""
    began = time.monotonic()

    def script(asked: Asked) -> str | Response:
        return echo(asked) if not 0.2 < time.monotonic() - began < 1.0 else Reset()

    async with ModelServer(script, latency=0.02) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        limits = Limits(first_wait=0.05, longest_wait=0.2, outage_seconds=30, attempts=12)
        async with open_model("m", "instruct", config, limits=limits) as model:
            answers = await asyncio.gather(*(model.ask(chat(str(n)), GREEDY) for n in range(300)))
    assert [answer.reply.text for answer in answers] == [f"echo {n}" for n in range(300)]
    assert server.count < 500


async def test_throttling_lowers_the_limit_and_is_honoured() -> None:
    """A server that refuses more than 8 at once gets them all answered, with few refusals."""
    async with ModelServer(echo, latency=0.02) as server:

        def script(asked: Asked) -> str | Response:
            return too_many(0.05) if server.in_flight > 8 else echo(asked)

        server._script = script
        config = ApiConfig(base_url=server.base_url, model="scripted", concurrency=64)
        async with open_model("m", "instruct", config, limits=Limits()) as model:
            answers = await asyncio.gather(*(model.ask(chat(str(n)), GREEDY) for n in range(300)))
            assert model.stats.throttled < 100
            assert model.stats.limit < 64
    assert [answer.reply.text for answer in answers] == [f"echo {n}" for n in range(300)]


async def test_rate_limit_headers() -> None:
    """An answer that says that nothing is left now holds the next question back until it is."""
    empty = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "300ms"}
    async with ModelServer(lambda asked: Said("x", headers=empty)) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config) as model:
            began = time.monotonic()
            await model.ask(chat("a"), GREEDY)
            await model.ask(chat("b"), GREEDY)
            assert time.monotonic() - began >= 0.3


async def test_greedy_questions_are_asked_once(tmp_path: Path) -> None:
    """Equal greedy questions are one question: stored, in flight, for any sample number, in the next run."""
    async with ModelServer(echo, latency=0.05) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        with ReplyCache(tmp_path / "c.sqlite") as cache:
            async with open_model("m", "instruct", config, cache=cache) as model:
                asks = [model.ask(chat("q"), GREEDY, sample=n) for n in range(20)]
                first = await asyncio.gather(*asks)
                later = await model.ask(chat("q"), GREEDY, sample=99)
                assert server.count == 1
                assert set(map(id, first)) and all(answer == later for answer in first)
                assert model.stats.from_cache == 20
                assert not any(answer.from_earlier_run for answer in (*first, later))
            async with open_model("m", "instruct", config, cache=cache) as model:
                assert (await model.ask(chat("q"), GREEDY)).from_earlier_run


async def test_what_is_another_question(tmp_path: Path) -> None:
    """Samples at a temperature, turns, and settings are questions of their own."""
    async with ModelServer(echo) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        with ReplyCache(tmp_path / "c.sqlite") as cache:
            async with open_model("m", "instruct", config, cache=cache) as model:
                warm = Sampling(64, temperature=0.8)
                await asyncio.gather(*(model.ask(chat("q"), warm, sample=n) for n in range(5)))
                await model.ask(chat("q"), warm, sample=3)
                assert server.count == 5
                await model.ask(chat("q"), Sampling(65, temperature=0.8), sample=3)
                await model.ask(Chat((Message("user", "q"),), turn=1), GREEDY)
                await model.ask(Chat((Message("user", "q"),), turn=2), GREEDY)
                assert server.count == 8


async def test_a_provider_that_ignores_temperature_is_not_greedy(tmp_path: Path) -> None:
    """Where the provider decides the temperature, samples are questions of their own."""
    async with ModelServer(echo) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted", unsupported=("temperature",))
        async with open_model("m", "instruct", config) as model:
            await asyncio.gather(*(model.ask(chat("q"), GREEDY, sample=n) for n in range(3)))
    assert server.count == 3


async def test_own_server_keeps_its_cache_under_another_port(tmp_path: Path) -> None:
    """Replies of a server that we started are found again under another port, not with other weights."""
    with ReplyCache(tmp_path / "c.sqlite") as cache:
        counts = []
        for revision in ("one", "one", "two"):
            async with ModelServer(echo) as server:
                local = ApiConfig(
                    base_url=server.base_url, model="scripted", revision=revision, concurrency=4
                )
                async with open_model("m", "instruct", local, engine="vllm 1 bf16", cache=cache) as model:
                    await model.ask(chat("q"), GREEDY)
            counts.append(server.count)
    assert counts == [1, 0, 1]


async def test_slots_of_an_own_server() -> None:
    """A server that we started gets as many requests at once as it has slots, from the start."""
    async with ModelServer(echo, latency=0.02) as server:
        local = ApiConfig(base_url=server.base_url, model="scripted", concurrency=10)
        async with open_model("m", "instruct", local, engine="vllm") as model:
            await asyncio.gather(*(model.ask(chat(str(n)), GREEDY) for n in range(60)))
    assert server.most_in_flight == 10


async def test_giving_up_the_first_of_two_equal_questions() -> None:
    """If the one who asked first goes away, the other still gets an answer."""
    async with ModelServer(echo, latency=0.1) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config) as model:
            first = asyncio.create_task(model.ask(chat("q"), GREEDY))
            second = asyncio.create_task(model.ask(chat("q"), GREEDY))
            await asyncio.sleep(0.05)
            first.cancel()
            assert (await second).reply.text == "echo q"
            assert model.stats.in_flight == 0
            assert server.count == 2


async def test_giving_up_the_second_of_two_equal_questions() -> None:
    """If the one who joined goes away, the first is not disturbed."""
    async with ModelServer(echo, latency=0.1) as server:
        config = ApiConfig(base_url=server.base_url, model="scripted")
        async with open_model("m", "instruct", config) as model:
            first = asyncio.create_task(model.ask(chat("q"), GREEDY))
            second = asyncio.create_task(model.ask(chat("q"), GREEDY))
            await asyncio.sleep(0.05)
            second.cancel()
            assert (await first).reply.text == "echo q"
            assert server.count == 1


async def test_statistics() -> None:
    """The panel sees what is in flight, waiting, answered, and how fast."""
    async with ModelServer(echo, latency=0.05) as server:
        local = ApiConfig(base_url=server.base_url, model="scripted", concurrency=2)
        async with open_model("m", "instruct", local, engine="vllm") as model:
            asks = [asyncio.create_task(model.ask(chat(str(n)), GREEDY)) for n in range(5)]
            await asyncio.sleep(0.03)
            stats = model.stats
            assert (stats.in_flight, stats.limit) == (2, 2)
            await asyncio.gather(*asks)
            assert (stats.in_flight, stats.answered) == (0, 5)
            assert (stats.input_tokens, stats.output_tokens) == (50, 25)
            assert stats.tokens_per_second is not None and stats.tokens_per_second > 0
