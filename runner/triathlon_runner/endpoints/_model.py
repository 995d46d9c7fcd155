"""A model that is asked through an endpoint: first its cache of replies, then the server until it answers."""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from weakref import WeakValueDictionary

from triathlon_runner.endpoints._api import (
    Answer,
    Chat,
    Completion,
    EndpointError,
    LostReply,
    Malformed,
    ModelKind,
    ModelUnavailableError,
    NeverReachable,
    NullContent,
    OtherModel,
    Retryable,
    Sampling,
    ServerUnreachableError,
    Throttled,
    UnexplainedError,
    Unreachable,
    request_in_flight,
)
from triathlon_runner.endpoints._cache import ReplyCache, reply_key
from triathlon_runner.endpoints._config import ApiConfig, Limits, Secrets
from triathlon_runner.endpoints._request_queue import RequestQueue, silent
from triathlon_runner.endpoints._retries import RetryState, exhausted_for
from triathlon_runner.endpoints._stats import EndpointStats, estimated_tokens
from triathlon_runner.endpoints.provider import (
    Client,
    Provider,
    Question,
    Request,
    ServerInfo,
    open_provider,
)
from triathlon_runner.records import Finish, Outcome

_UNREADABLE = 12
"""Stop the model after this many unreadable replies if none was ever valid: base_url is probably wrong."""
_BY_ANOTHER_MODEL = 3
"""Stop the model after this many replies by another model if none was by the one asked for."""


class OpenAIModel:
    """Implements `Model`. Made by `open_model`."""

    def __init__(
        self,
        model_id: str,
        kind: ModelKind,
        endpoint: "Endpoint",
        cache: ReplyCache | None,
        identity: Mapping[str, str],
    ) -> None:
        """`identity`: what the cache's keys hold of the model and its server."""
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
        prompt, most = request.question.estimated_tokens, request.question.sampling.max_tokens
        needed = prompt + most
        if server.context is not None and needed > server.context and not server.is_models_limit:
            raise ModelUnavailableError(
                f"expected a context of at least {needed} tokens (about {prompt} of a prompt and"
                f" {most} of its longest reply), got {server.context} from {server.name}:"
                f" {server.how_to_raise}, or set a smaller `max_tokens` in the model's row"
            )


class Endpoint:
    """Gets one answer to one question, or raises an error that says why there is none."""

    def __init__(
        self, config: ApiConfig, provider: Provider, client: Client, queue: RequestQueue, secrets: Secrets
    ) -> None:
        self.config, self.provider, self.client, self.stats = config, provider, client, queue.stats
        self._queue, self._secrets, self._limits = queue, secrets, queue.limits
        self._unreadable = self._by_another_model = 0
        self._unexplained: list[tuple[int, bytes]] = []
        """Status and question of the last errors without an explanation; an answer clears the list."""

    async def answer(self, request: Request) -> Answer:
        """Asks until there is an answer.

        Raises:
            ModelUnavailableError: no question can succeed for now; the model is stopped.
            EndpointError: no answer to this one after all retries.
        """
        final: EndpointError
        of_question, is_reported = "", False
        try:
            return await self._ask(request)
        except Malformed as error:
            final = self._unreadable_error(error)
        except Retryable as error:
            final, is_reported = EndpointError(error.reason), self._is_away(error)
        except UnexplainedError as error:
            of_question = "" if self._queue.stopped else self._secrets.scrub_message(str(error))
            final = self._unexplained_error(error, request)
        except EndpointError as error:
            final = error
        final = type(final)(self._secrets.scrub_message(str(final)))
        self.stats.failed += 1
        if not is_reported:
            self.stats.last_error, self.stats.retried_error = str(final), ""
        if isinstance(final, ModelUnavailableError):
            final.of_question = of_question
            self._queue.stop(final)
        raise final

    def _is_away(self, error: Retryable) -> bool:
        """Whether a server of ours is away, which whoever restarts it reports."""
        is_away = isinstance(error, Unreachable) and not isinstance(error, LostReply)
        return is_away and self._limits.is_own_server

    def _unexplained_error(self, error: UnexplainedError, request: Request) -> EndpointError:
        """Returns the error of one question, or of the model after several in a row met the same."""
        if self._queue.stopped:
            return self._queue.stopped
        self._queue.outage.replied()
        if self._unexplained and self._unexplained[-1][0] != error.status:
            self._unexplained.clear()
            self.stats.unexplained = 0
        self.stats.unexplained += 1
        if (asked := (error.status, request.payload)) not in self._unexplained:
            self._unexplained.append(asked)
        if len(self._unexplained) < self._limits.unexplained:
            return EndpointError(str(error))
        return ModelUnavailableError(
            f"{len(self._unexplained)} different questions in a row met the same error: {error}"
        )

    def _unreadable_error(self, error: Malformed) -> EndpointError:
        """Returns an error that stops the model if no reply could ever be read."""
        if self.stats.answered:
            return EndpointError(error.reason)
        if isinstance(error, OtherModel):
            return ModelUnavailableError(f"no reply was by the model that was asked for: {error.reason}")
        return ModelUnavailableError(
            f"expected replies of the {self.config.provider} protocol from {self.config.base_url!r}, got"
            f" {error.reason}; look at base_url and provider in the model's row (most addresses end with /v1)"
        )

    async def _ask(self, request: Request) -> Answer:
        retries, place = RetryState(self._limits), self._queue.place()
        is_first = True
        while True:
            try:
                async with self._queue.slot(place, request.estimated_tokens) as sent_at:
                    retries.begin()
                    self.stats.retries += not is_first
                    with request_in_flight():
                        hangs_after = self._queue.hangs_after if is_first else math.inf
                        return await self._try(request, sent_at, hangs_after)
            except Retryable as error:
                wait = retries.seconds_after(error)
                if wait is None and isinstance(error, NullContent) and retries.empty_reply_counts:
                    return error.answer
                if wait is None:
                    raise
            is_first = False
            await asyncio.sleep(wait)

    async def _try(self, request: Request, sent_at: float, hangs_after: float) -> Answer:
        """Sends a request and reads the reply; abandons it after `hangs_after` seconds."""
        try:
            try:
                async with asyncio.timeout(None if math.isinf(hangs_after) else hangs_after):
                    reply = await self.client.post(request.path, request.payload)
            except TimeoutError:
                raise LostReply(
                    f"no reply within {hangs_after:.0f} s, three times what the slowest of the last ones took"
                ) from None
            self._queue.outage.reached = self._queue.outage.has_replied = True
            parsed = self.provider.read(request, reply)
        except NeverReachable as error:
            kind = ServerUnreachableError if error.is_temporary else ModelUnavailableError
            raise kind(error.reason) from None
        except Retryable as error:
            self._note_failure(request, error, sent_at)
            raise
        usage, stats = parsed.usage, self.stats
        answer = Answer(parsed.reply, usage, self._queue.now() - sent_at, parsed.served_model)
        self._queue.answered(sent_at, usage.input_tokens + usage.output_tokens, request.estimated_tokens)
        if (wait := exhausted_for(reply.headers)) is not None:
            self._queue.wait_for_server(wait, "its limit of requests or tokens is used up")
        self._unexplained.clear()
        stats.count_answer(usage.input_tokens, usage.output_tokens, answer.seconds)
        stats.truncated += answer.reply.finish is Finish.LENGTH
        if usage.uncounted:
            written = estimated_tokens(answer.reply.text, answer.reply.reasoning)
            stats.count_uncounted(request.question.estimated_tokens, written)
        if parsed.is_empty:
            empty = NullContent(answer)
            self.stats.last_error = empty.reason
            raise empty
        return answer

    def _note_failure(self, request: Request, error: Retryable, sent_at: float) -> None:
        """Tells the queue of a failed try.

        Raises:
            ModelUnavailableError: no other try can do better.
        """
        reason = self._secrets.scrub_message(error.reason)
        if not self._is_away(error):
            self.stats.last_error = self.stats.retried_error = reason
        if isinstance(error, Unreachable) and error.was_connected:
            self._queue.outage.reached = True
        if isinstance(error, LostReply | Malformed):
            self.stats.count_lost_reply(request.question.estimated_tokens)
        if isinstance(error, Malformed):
            self._unreadable += 1
            self._by_another_model += isinstance(error, OtherModel)
            is_wrong = self._unreadable >= _UNREADABLE or self._by_another_model >= _BY_ANOTHER_MODEL
            if is_wrong and not self.stats.answered:
                raise self._unreadable_error(error) from None
        if (error.retry_after or 0.0) > self._limits.longest_retry_after:
            self._queue.wait_for_server(error.retry_after or 0.0, reason)
        elif isinstance(error, Throttled):
            self.stats.throttled += 1
            self._queue.throttled(sent_at, error.retry_after, reason)
        else:
            is_down = self._queue.failed(sent_at, reason, error.retry_after)
            error.server_is_down = is_down and not math.isinf(self._limits.outage_seconds)
            return
        self._queue.raise_if_stopped()


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
        engine: Describes a server that we started: it is up, and has `concurrency` slots. Its port is
            arbitrary, so the cache's keys hold this text and not the address.
        cache: Where replies are looked up before a request is sent, and stored.
        limits: Attempts, waits and concurrency; the row's own come first.
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
        if config.shaping_headers:
            identity["headers"] = json.dumps(config.shaping_headers, sort_keys=True)
        yield OpenAIModel(model_id, kind, endpoint, cache, identity)
