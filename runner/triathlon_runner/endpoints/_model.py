"""A model behind an endpoint that speaks the OpenAI protocol."""

import functools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

from triathlon_runner.endpoints._api import Answer, Chat, Completion, Sampling
from triathlon_runner.endpoints._cache import ReplyCache, reply_key, shape_of
from triathlon_runner.endpoints._client import open_client
from triathlon_runner.endpoints._config import ApiConfig, LocalServer
from triathlon_runner.endpoints._endpoint import Endpoint
from triathlon_runner.endpoints._flights import Flights
from triathlon_runner.endpoints._gate import Gate, silent
from triathlon_runner.endpoints._level import Level
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._request import Question, make_question
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.endpoints._stats import EndpointStats

Kind = Literal["instruct", "base"]


class OpenAIModel:
    """Implements `Model`. Made by `open_model`."""

    def __init__(
        self,
        model_id: str,
        kind: Kind,
        *,
        config: ApiConfig,
        identity: Mapping[str, Any],
        endpoint: Endpoint,
        cache: ReplyCache | None,
        stats: EndpointStats,
    ) -> None:
        """Wires the parts together; `identity` is how the cache knows the provider and the weights."""
        self._id, self._kind = model_id, kind
        self._config, self._identity, self._endpoint = config, dict(identity), endpoint
        self._cache, self._flights = cache, Flights()
        self._shape = functools.lru_cache(256)(functools.partial(_shape, self._identity))
        self.stats = stats
        """Counters for the progress panel."""

    @property
    def id(self) -> str:
        """The row's id in models.yaml."""
        return self._id

    @property
    def kind(self) -> Kind:
        """Instruct models are asked by `Chat`, base models by `Completion`."""
        return self._kind

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once; see `Model.ask`. For greedy questions `sample` tells nothing apart, only `turn` does.

        Raises:
            ModelUnavailableError: no question to this model can succeed for now.
            EndpointError: no answer to this one after all retries.
            CacheError: the answer came but cannot be stored.
        """
        answer = await self._answer(prompt, sampling, sample)
        self.stats.count_reply(answer.reply)
        return answer

    async def _answer(self, prompt: Chat | Completion, sampling: Sampling, sample: int) -> Answer:
        question = make_question(self._config, prompt, sampling)
        repeat = 0 if question.repeatable else sample
        key = reply_key(self._shape(question.path, question.stop, repeat, prompt.turn), question.payload)
        while True:
            if self._cache is not None and (known := self._cache.get(key)) is not None:
                self.stats.from_cache += 1
                return known
            if key not in self._flights:
                return await self._flights.fly(key, lambda: self._ask_and_keep(key, question))
            if (answer := await self._flights.join(key)) is not None:
                self.stats.shared += 1
                return answer

    async def _ask_and_keep(self, key: bytes, question: Question) -> Answer:
        answer = await self._endpoint.answer(question)
        return answer if self._cache is None else await self._cache.put(key, self._id, answer)


@asynccontextmanager
async def open_model(
    model_id: str,
    kind: Kind,
    source: ApiConfig | LocalServer,
    *,
    cache: ReplyCache | None = None,
    limits: Limits | None = None,
    may_send: Callable[[], bool] = lambda: True,
    say: Callable[[str], None] = silent,
) -> AsyncIterator[OpenAIModel]:
    """A model, ready to be asked until the `async with` block ends.

    `may_send` is asked before each request; once it says no, questions wait until their caller gives them up.
    `say` gets a line where the server cannot be reached or lets us wait.

    Raises:
        UserError: an environment variable that the row names is not set.
    """
    limits, stats = limits or Limits(), EndpointStats()
    config = source if isinstance(source, ApiConfig) else _config_of(source)
    secrets = Secrets(config, key=source.key if isinstance(source, LocalServer) else "")

    def tell(message: str) -> None:
        say(f"{model_id}: {secrets.scrub(message)}")

    gate = Gate(
        limits,
        _level(source, limits),
        stats,
        config.requests_per_minute,
        config.tokens_per_minute,
        may_send,
        say=tell,
        reached=isinstance(source, LocalServer),
    )
    async with open_client(config, secrets, limits, tell) as post:
        endpoint = Endpoint(config=config, secrets=secrets, post=post, gate=gate, limits=limits, stats=stats)
        yield OpenAIModel(
            model_id,
            kind,
            config=config,
            identity=_identity(source),
            endpoint=endpoint,
            cache=cache,
            stats=stats,
        )


def _shape(identity: Mapping[str, Any], path: str, stop: tuple[str, ...], sample: int, turn: int) -> bytes:
    """What shapes a reply besides the request's body: the same for many questions."""
    return shape_of({**identity, "path": path, "stop": stop, "sample": sample, "turn": turn})


def _config_of(server: LocalServer) -> ApiConfig:
    return ApiConfig(
        base_url=server.base_url,
        model=server.model,
        revision=server.revision,
        timeout_seconds=server.timeout_seconds,
    )


def _level(source: ApiConfig | LocalServer, limits: Limits) -> Level:
    if isinstance(source, LocalServer):
        return Level(source.slots, source.slots)
    return Level(limits.first_concurrency, source.concurrency or limits.concurrency)


def _identity(source: ApiConfig | LocalServer) -> dict[str, str]:
    provider = source.engine if isinstance(source, LocalServer) else source.base_url
    return {"provider": provider, "model": source.model, "revision": source.revision}
