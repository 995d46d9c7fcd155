"""A model that is asked through an endpoint, with a cache of replies in front of it."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from weakref import WeakValueDictionary

from triathlon_runner.endpoints._api import Answer, Chat, Completion, ModelKind, Sampling
from triathlon_runner.endpoints._cache import ReplyCache, reply_key
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._endpoint import Endpoint
from triathlon_runner.endpoints._errors import ModelUnavailableError
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._request_queue import RequestQueue, silent
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.endpoints._stats import CHARACTERS_A_TOKEN, EndpointStats
from triathlon_runner.endpoints.provider import Question, Request, ServerInfo, open_provider
from triathlon_runner.records import Finish, Outcome


class OpenAIModel:
    """Implements `Model`. Made by `open_model`."""

    def __init__(
        self,
        model_id: str,
        kind: ModelKind,
        endpoint: Endpoint,
        cache: ReplyCache | None,
        identity: Mapping[str, str],
    ) -> None:
        """Wires the parts together; `identity` is what the cache knows the model and its server by."""
        self.id, self.kind = model_id, kind
        self.stats: EndpointStats = endpoint.stats
        self._endpoint, self._cache, self._identity = endpoint, cache, dict(identity)
        self._server = ServerInfo()
        self._locks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        """By the cache's keys: while a question is in flight, an equal one waits for its reply."""
        self._answered_now: set[bytes] = set()
        """Keys of the questions that the server has answered since the model was opened."""

    async def identify_server(self) -> ServerInfo:
        """Asks which weights the server has loaded; other weights are another model to the cache."""
        self._server = await self._endpoint.provider.server_info(self._endpoint.client)
        if self._server.identity:
            self._identity["server"] = self._server.identity
        return self._server

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once; see `Model.ask`. `sample` makes no difference to a greedy question, `turn` does.

        Raises:
            ModelUnavailableError: no question to this model can succeed for now.
            EndpointError: no answer to this one after all retries.
            CacheError: the answer came but cannot be stored.
        """
        config = self._endpoint.config
        limit = sampling.max_tokens + config.reasoning_max_tokens
        request = self._endpoint.provider.request(Question(prompt, replace(sampling, max_tokens=limit)))
        is_greedy = sampling.temperature == 0 and "temperature" not in config.unsupported
        settings = {
            **self._identity,
            "path": request.path,
            "stop": sampling.stop,
            "sample": 0 if is_greedy else sample,
            "turn": prompt.turn,
        }
        key = reply_key(settings, request.payload)
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            answer = None if self._cache is None else self._cache.get(key)
            if answer is not None:
                self.stats.from_cache += 1
                answer = replace(answer, from_earlier_run=key not in self._answered_now)
            else:
                self._check_length(request)
                answer = await self._endpoint.answer(request)
                self._answered_now.add(key)
                if self._cache is not None:
                    answer = self._cache.put(key, self.id, answer)
        finish = answer.reply.finish
        has_text = finish is Finish.STOP and answer.reply.text.strip()
        self.stats.outcomes[Outcome.PASSED if has_text else finish.outcome_without_answer] += 1
        return answer

    def _check_length(self, request: Request) -> None:
        """Refuses a question that does not fit into the context: some servers cut it without an error.

        Raises:
            ModelUnavailableError: the context is shorter than the prompt and the longest reply together.
        """
        server = self._server
        prompt = math.ceil(request.question.characters / CHARACTERS_A_TOKEN)
        most = request.question.sampling.max_tokens
        needed = prompt + most
        if server.context is not None and needed > server.context and not server.is_models_limit:
            raise ModelUnavailableError(
                f"expected a context of at least {needed} tokens (about {prompt} of a prompt and"
                f" {most} of its longest reply), got {server.context} from {server.name}:"
                f" {server.how_to_raise}, or set a smaller `max_tokens` in the model's row"
            )


@asynccontextmanager
async def open_model(
    model_id: str,
    kind: ModelKind,
    config: ApiConfig,
    *,
    engine: str = "",
    cache: ReplyCache | None = None,
    limits: Limits | None = None,
    may_send: Callable[[], bool] = lambda: True,
    say: Callable[[str], None] = silent,
) -> AsyncIterator[OpenAIModel]:
    """A model, ready to be asked until the `async with` block ends.

    Args:
        model_id: The row's id.
        kind: Whether it is asked by `Chat` or by `Completion`.
        config: The row's `api:` block, or that of the server that was started for it.
        engine: Describes a server that we started: it is up, and has `concurrency` slots. Its port is chance,
            so the cache knows it by this and not by its address.
        cache: Where replies are looked up before a request is sent, and stored.
        limits: Attempts, waits and concurrency.
        may_send: Called before each request; while it returns False, questions wait until they are cancelled.
        say: Gets a line where the server cannot be reached or asks us to wait.

    Raises:
        UserError: an environment variable that the row names is not set, or a proxy cannot be used.
    """
    limits = limits or Limits()
    slots = config.concurrency or limits.concurrency
    limits = replace(
        limits,
        first_concurrency=slots if engine else limits.first_concurrency,
        concurrency=slots,
        requests_per_minute=config.requests_per_minute,
        tokens_per_minute=config.tokens_per_minute,
    )
    secrets = Secrets(config)
    provider = open_provider(config)

    def tell(message: str) -> None:
        say(f"{model_id}: {secrets.scrub_message(message)}")

    queue = RequestQueue(limits, EndpointStats(), may_send=may_send, say=tell, reached=bool(engine))
    from triathlon_runner.endpoints._client import open_client  # noqa: PLC0415  0.7 s that no other command waits for

    async with open_client(config, secrets, limits, provider.headers(secrets.key), tell) as client:
        endpoint = Endpoint(config, provider, client, queue, secrets)
        identity = {"provider": engine or config.base_url, "model": config.model, "revision": config.revision}
        yield OpenAIModel(model_id, kind, endpoint, cache, identity)
