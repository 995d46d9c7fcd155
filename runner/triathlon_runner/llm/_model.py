"""A model that is asked through an endpoint: first its cache of replies, then the server until it answers."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from weakref import WeakValueDictionary

from triathlon_runner.llm._api import (
    Answer,
    Chat,
    Completion,
    EndpointStats,
    ModelKind,
    ModelSettings,
    Sampling,
)
from triathlon_runner.llm._cache import ReplyCache, reply_key
from triathlon_runner.llm._endpoint import Endpoint
from triathlon_runner.llm._queue import Limits, RequestQueue, silent
from triathlon_runner.llm._secrets import Secrets
from triathlon_runner.llm.provider import ApiConfig, HttpReply, Request, ServerInfo
from triathlon_runner.records import Finish, Outcome, Reply, Usage


def probed(model_id: str) -> str:
    """Returns the name under which the cache keeps what `probe` asked of a model."""
    return f"{model_id} (probe)"


class OpenModel:
    """Implements `Model`. Made by `open_model`."""

    def __init__(
        self,
        model_id: str,
        kind: ModelKind,
        endpoint: Endpoint,
        cache: ReplyCache | None,
        settings: ModelSettings,
    ) -> None:
        """See `open_model`."""
        self.id, self.kind = model_id, kind
        self.stats: EndpointStats = endpoint.stats
        self.endpoint = endpoint
        self._cache, self._settings = cache, settings
        self._locks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        """By the cache's keys: while a question is in flight, an equal one waits for its reply."""
        self._answered_now: set[bytes] = set()
        """Keys of the questions that the server has answered since the model was opened."""

    async def identify_server(self) -> ServerInfo:
        """Asks which weights the server has loaded; see `Endpoint.identify_server`."""
        return await self.endpoint.identify_server(self.kind)

    @property
    def _identity(self) -> dict[str, str]:
        """What the cache's keys hold of the model and its server: other weights are another model to it."""
        config, settings = self.endpoint.config, self._settings
        identity = {
            "provider": settings.engine or config.base_url,
            "model": config.model,
            "revision": config.revision,
        }
        if config.shaping_headers:
            identity["headers"] = json.dumps(config.shaping_headers, sort_keys=True)
        if server := self.endpoint.server.identity:
            identity["server"] = server
        return identity

    async def raw_reply(self, request: Request, number: int) -> tuple[HttpReply, float | None]:
        """Returns a reply as the server sends it, and how long it took: None where it was kept.

        Replies are kept apart from those of runs; `number` makes equal questions separate ones.

        Raises:
            ServerUnreachableError: the server does not reply.
        """
        key = reply_key({**self._identity, "path": request.path, "raw": number}, request.payload)
        if self._cache is not None and (kept := self._cache.get(key)):
            self.stats.from_cache += 1
            return HttpReply(200, kept.reply.text.encode(), {}), None
        began, wait = time.monotonic(), self.endpoint.config.timeout_seconds
        reply = await self.endpoint.fetch(request.path, request.body, seconds=wait)
        seconds = time.monotonic() - began
        if self._cache is not None and reply.status == 200:
            text = Reply(text=reply.body.decode("utf-8", "replace"))
            self._cache.put(key, probed(self.id), Answer(text, Usage(requests=1), seconds, ""))
        return reply, seconds

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once; see `Model.ask`. `sample` makes no difference to a greedy question, `turn` does.

        Raises:
            ModelUnavailableError: no question to this model can succeed for now.
            EndpointError: no answer to this one after all retries.
            CacheError: the answer came but cannot be stored.
        """
        request = self.endpoint.request(prompt, sampling)
        is_greedy = sampling.temperature == 0 and "temperature" not in self.endpoint.config.unsupported
        settings = {
            **self._identity,
            "path": request.path,
            "stop": sampling.stop,
            "sample": 0 if is_greedy else sample,
            "turn": prompt.turn,
        }
        key = reply_key(settings, request.payload)
        async with self._locks.setdefault(key, asyncio.Lock()):
            answer = None if self._cache is None else self._cache.get(key)
            if answer is not None:
                self.stats.from_cache += 1
                answer = replace(answer, from_earlier_run=key not in self._answered_now)
            else:
                answer = await self.endpoint.answer(request)
                self._answered_now.add(key)
                if self._cache is not None:
                    answer = self._cache.put(key, self.id, answer)
        finish = answer.reply.finish
        has_text = finish is Finish.STOP and answer.reply.text.strip()
        self.stats.outcomes[Outcome.PASSED if has_text else finish.outcome_without_answer] += 1
        return answer

    def scrub_evidence(self, text: str) -> str:
        """Returns a text of a result without the model's keys: a server may have put one into a program."""
        return self.endpoint.secrets.scrub_evidence(text)


@asynccontextmanager
async def open_model(
    model_id: str,
    kind: ModelKind,
    config: ApiConfig,
    *,
    settings: ModelSettings = ModelSettings(),  # noqa: B008  it cannot be changed
    cache: ReplyCache | None = None,
    limits: Limits | None = None,
    may_send: Callable[[], bool] = lambda: True,
    say: Callable[[str], None] = silent,
) -> AsyncIterator[OpenModel]:
    """A model, ready to be asked until the `async with` block ends.

    Args:
        model_id: The row's id.
        kind: Whether it is asked by `Chat` or by `Completion`.
        config: The row's `api:` block, or that of the server that was started for it.
        settings: What else decides how it is asked.
        cache: Where replies are looked up before a request is sent, and stored.
        limits: Attempts, waits and concurrency; the row's own come first.
        may_send: Called before each request; while it returns False, questions wait until they are cancelled.
        say: Gets a line where the server cannot be reached or asks us to wait.

    Raises:
        UserError: an environment variable that the row names is not set, or a proxy cannot be used.
    """
    from triathlon_runner.llm._client import open_client  # noqa: PLC0415  0.7 s that no other command waits for

    limits = limits or Limits()
    slots = config.concurrency or limits.concurrency
    limits = replace(
        limits,
        first_concurrency=slots if settings.engine else limits.first_concurrency,
        concurrency=slots,
        requests_per_minute=config.requests_per_minute,
        tokens_per_minute=config.tokens_per_minute,
    )
    secrets = Secrets(config)

    def tell(message: str) -> None:
        say(f"{model_id}: {secrets.scrub_message(message)}")

    queue = RequestQueue(limits, EndpointStats(), may_send=may_send, say=tell, reached=bool(settings.engine))
    async with open_client(config, secrets, limits) as client:
        endpoint = Endpoint(config, client.send, queue, secrets, settings, tell)
        try:
            yield OpenModel(model_id, kind, endpoint, cache, settings)
        finally:
            queue.close()
