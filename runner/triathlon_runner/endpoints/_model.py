"""A model behind an endpoint: its cache of replies, its queue, its server."""

import functools
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

from triathlon_runner.endpoints._api import Answer, Chat, Completion, Sampling
from triathlon_runner.endpoints._cache import ReplyCache, SingleFlight, reply_key, shape_of
from triathlon_runner.endpoints._config import ApiConfig, LocalServer
from triathlon_runner.endpoints._endpoint import Endpoint
from triathlon_runner.endpoints._errors import ModelUnavailableError
from triathlon_runner.endpoints._gate import Gate, silent
from triathlon_runner.endpoints._http import Client
from triathlon_runner.endpoints._limits import ConcurrencyLimit, Limits
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.endpoints._server_info import ServerInfo
from triathlon_runner.endpoints._stats import CHARACTERS_A_TOKEN, EndpointStats
from triathlon_runner.endpoints.provider import Provider, Question, Request, open_provider

Kind = Literal["instruct", "base"]


class OpenAIModel:
    """Implements `Model`. Made by `open_model`."""

    def __init__(
        self,
        model_id: str,
        kind: Kind,
        *,
        identity: Mapping[str, str],
        provider: Provider,
        client: Client,
        endpoint: Endpoint,
        cache: ReplyCache | None,
        stats: EndpointStats,
    ) -> None:
        """Wires the parts together; `identity` is how the cache knows the provider and the weights."""
        self._id, self._kind = model_id, kind
        self._identity, self._provider, self._client = dict(identity), provider, client
        self._endpoint, self._cache, self._single_flight = endpoint, cache, SingleFlight()
        self._server = ServerInfo()
        self._shape = functools.lru_cache(256)(self._shape_of)
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

    async def identify_server(self) -> ServerInfo:
        """Asks who is behind the address; replies of other weights are then other replies in the cache."""
        self._server = await self._provider.server_info(self._client)
        if self._server.identity:
            self._identity["server"] = self._server.identity
            self._shape.cache_clear()
        return self._server

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
        request = self._provider.request(Question(prompt, sampling))
        repeat = 0 if request.repeatable else sample
        key = reply_key(self._shape(request.path, sampling.stop, repeat, prompt.turn), request.payload)
        while True:
            if self._cache is not None and (known := self._cache.get(key)) is not None:
                self.stats.from_cache += 1
                return known
            if key not in self._single_flight:
                return await self._single_flight.ask(key, lambda: self._ask_and_store(key, request))
            if (answer := await self._single_flight.join(key)) is not None:
                self.stats.shared += 1
                return answer

    async def _ask_and_store(self, key: bytes, request: Request) -> Answer:
        self._refuse_what_the_server_would_cut(request)
        answer = await self._endpoint.answer(request)
        return answer if self._cache is None else self._cache.put(key, self._id, answer)

    def _refuse_what_the_server_would_cut(self, request: Request) -> None:
        """Refuses a question that does not fit: some servers cut it without a word.

        Raises:
            ModelUnavailableError: the context is shorter than the prompt and the longest reply together.
        """
        context = self._server.context
        prompt = math.ceil(request.question.characters / CHARACTERS_A_TOKEN)
        if context is not None and prompt + request.max_tokens > context and not self._server.is_models_limit:
            raise ModelUnavailableError(
                f"expected a context of at least {prompt + request.max_tokens} tokens (about {prompt} of a"
                f" prompt and {request.max_tokens} of its longest reply), got {context} from"
                f" {self._server.name}:"
                f" {self._server.how_to_raise}, or set a smaller `max_tokens` in the model's row"
            )

    def _shape_of(self, path: str, stop: tuple[str, ...], sample: int, turn: int) -> bytes:
        """What shapes a reply besides the request's body: the same for many questions."""
        shape: dict[str, Any] = {"path": path, "stop": stop, "sample": sample, "turn": turn}
        return shape_of({**self._identity, **shape})


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

    Args:
        model_id: The row's id.
        kind: Whether it chats or goes on with a text.
        source: The row's `api:` block, or the server that was started for it.
        cache: Where replies are stored, and looked up before anything is asked.
        limits: How hard and how long it is asked.
        may_send: Is asked before each request; once it says no, questions wait until their caller gives up.
        say: Gets a line where the server cannot be reached or lets us wait.

    Raises:
        UserError: an environment variable that the row names is not set, or a proxy cannot be used.
    """
    limits, stats = limits or Limits(), EndpointStats()
    config = source if isinstance(source, ApiConfig) else _config_of(source)
    secrets = Secrets(config, key=source.key if isinstance(source, LocalServer) else "")
    provider = open_provider(config)

    def tell(message: str) -> None:
        say(f"{model_id}: {secrets.scrub(message)}")

    gate = Gate(
        limits,
        _concurrency(source, limits),
        stats,
        config.requests_per_minute,
        config.tokens_per_minute,
        may_send,
        say=tell,
        reached=isinstance(source, LocalServer),
    )
    from triathlon_runner.endpoints._client import open_client  # noqa: PLC0415  0.7 s that no other command waits for

    async with open_client(config, secrets, limits, provider.headers(secrets.key), tell) as client:
        endpoint = Endpoint(
            config=config,
            secrets=secrets,
            client=client,
            provider=provider,
            gate=gate,
            limits=limits,
            stats=stats,
        )
        yield OpenAIModel(
            model_id,
            kind,
            identity=_identity(source),
            provider=provider,
            client=client,
            endpoint=endpoint,
            cache=cache,
            stats=stats,
        )


def _config_of(server: LocalServer) -> ApiConfig:
    return ApiConfig(
        base_url=server.base_url,
        model=server.model,
        revision=server.revision,
        timeout_seconds=server.timeout_seconds,
    )


def _concurrency(source: ApiConfig | LocalServer, limits: Limits) -> ConcurrencyLimit:
    if isinstance(source, LocalServer):
        return ConcurrencyLimit(source.slots, source.slots)
    return ConcurrencyLimit(limits.first_concurrency, source.concurrency or limits.concurrency)


def _identity(source: ApiConfig | LocalServer) -> dict[str, str]:
    provider = source.engine if isinstance(source, LocalServer) else source.base_url
    return {"provider": provider, "model": source.model, "revision": source.revision}
