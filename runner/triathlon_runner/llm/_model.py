"""A model: its cache of replies, questions until they are answered, and who is behind the address."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final
from weakref import WeakValueDictionary

import stamina
import stamina.instrumentation

from triathlon_runner.apart import apart
from triathlon_runner.llm._api import (
    EMPTY_REPLIES_THAT_COUNT,
    Answer,
    Chat,
    Completion,
    EmptyReply,
    EndpointError,
    EndpointStats,
    Malformed,
    Message,
    ModelKind,
    ModelSettings,
    ModelUnavailableError,
    OtherModel,
    Retryable,
    Sampling,
    Throttled,
    UnexplainedError,
    Unreachable,
    request_in_flight,
)
from triathlon_runner.llm._cache import ReplyCache, reply_key
from triathlon_runner.llm._errors import classify, json_object, read_failure
from triathlon_runner.llm._queue import Limits, RequestQueue, Slot, jitter, silent
from triathlon_runner.llm._secrets import Secrets
from triathlon_runner.llm._server_info import listed_names, lists_model
from triathlon_runner.llm.probe import Reading, Seen, free_findings
from triathlon_runner.llm.provider import ApiConfig, HttpReply, Request, Send, ServerInfo, estimated_tokens
from triathlon_runner.records import Finish, Outcome, Reply, Usage

stamina.instrumentation.set_on_retry_hooks([])  # only the last error is reported

_UNREADABLE: Final = 12
"""Stop the model after this many unreadable replies if none was ever valid: base_url is probably wrong."""
_BY_ANOTHER_MODEL: Final = 3
"""Stop the model after this many replies by another model if none was by the one asked for."""
_UNEXPLAINED: Final = 5
"""Stop the model after so many different questions in a row with the same 4xx that no rule explains."""
_NONSENSE: Final = "triathlon-no-such-model"
"""The name of a model that nobody has."""
_BUSY: Final = (429, 502, 503, 504)
"""Statuses with which a server says that it cannot say now what it serves."""
_LOOKED_AT: Final = 3
"""First replies that are looked at for signs of a server that is set otherwise than its row says."""


def probed(model_id: str) -> str:
    """Returns the name under which the cache keeps what `probe` asked of a model."""
    return f"{model_id} (probe)"


class OpenModel:
    """Implements `Model`. Made by `open_model`."""

    def __init__(
        self,
        model_id: str,
        kind: ModelKind,
        config: ApiConfig,
        send: Send,
        queue: RequestQueue,
        secrets: Secrets,
        *,
        settings: ModelSettings = ModelSettings(),  # noqa: B008  it cannot be changed
        cache: ReplyCache | None = None,
        say: Callable[[str], None] = silent,
    ) -> None:
        """See `open_model`."""
        self.id, self.kind, self.config, self.secrets = model_id, kind, config, secrets
        self.stats: EndpointStats = queue.stats
        self.server = ServerInfo()
        self._send, self._queue, self._limits = send, queue, queue.limits
        self._settings, self._cache, self._say = settings, cache, say
        self._locks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()
        """By the cache's keys: while a question is in flight, an equal one waits for its reply."""
        self._answered_now: set[bytes] = set()
        """Keys of the questions that the server has answered since the model was opened."""
        self._useless: Counter[type[Malformed]] = Counter()
        self._unexplained: set[tuple[int, bytes]] = set()
        """Status and question of the last errors without an explanation; an answer clears it."""

    @property
    def _identity(self) -> dict[str, str]:
        """What the cache's keys hold of the model and its server: other weights are another model to it."""
        config, settings = self.config, self._settings
        identity = {
            "provider": settings.engine or config.base_url,
            "model": config.model,
            "revision": config.revision,
        }
        if config.shaping_headers:
            identity["headers"] = json.dumps(config.shaping_headers, sort_keys=True)
        if server := self.server.identity:
            identity["server"] = server
        return identity

    def request(self, prompt: Chat | Completion, sampling: Sampling) -> Request:
        """Returns a question as it is sent."""
        if self._settings.merges_system and isinstance(prompt, Chat):
            prompt = prompt.with_merged_system()
        limit = sampling.max_tokens + self.config.reasoning_max_tokens
        return self.config.request(prompt, replace(sampling, max_tokens=limit))

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once; see `Model.ask`. `sample` makes no difference to a greedy question, `turn` does.

        Raises:
            ModelUnavailableError: no question to this model can succeed for now.
            EndpointError: no answer to this one after all retries.
            CacheError: the answer came but cannot be stored.
        """
        request = self.request(prompt, sampling)
        is_greedy = sampling.temperature == 0 and "temperature" not in self.config.unsupported
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
                answer = await self._answer(request)
                self._answered_now.add(key)
                if self._cache is not None:
                    answer = self._cache.put(key, self.id, answer)
        finish = answer.reply.finish
        has_text = finish is Finish.STOP and answer.reply.text.strip()
        self.stats.outcomes[Outcome.PASSED if has_text else finish.outcome_without_answer] += 1
        return answer

    def scrub_evidence(self, text: str) -> str:
        """Returns a text of a result without the model's keys: a server may have put one into a program."""
        return self.secrets.scrub_evidence(text)

    # Until there is an answer

    async def _answer(self, request: Request) -> Answer:
        """Asks the server until there is an answer."""
        try:
            return await self._ask(request)
        except (Retryable, EndpointError) as error:
            final = self._final(error, request)
        raise final  # not inside `except`: the error would carry what the server sent along

    def _final(self, error: Retryable | EndpointError, request: Request) -> EndpointError:
        """Returns why there is no answer, without keys; stops the model where no question can succeed."""
        of_question = ""
        match error:
            case Malformed():
                final = self._unreadable_error(error)
            case Retryable():
                final = EndpointError(error.reason)
            case UnexplainedError():
                of_question = "" if self._queue.stopped else self.secrets.scrub_message(str(error))
                final = self._unexplained_error(error, request)
            case _:
                final = error
        final = type(final)(self.secrets.scrub_message(str(final)))
        self.stats.failed += 1
        if not self._is_reported_elsewhere(error):
            self.stats.last_error, self.stats.retried_error = str(final), ""
        if isinstance(final, ModelUnavailableError):
            final.of_question = of_question
            self._queue.stop(final)
        return final

    def _is_reported_elsewhere(self, error: Exception) -> bool:
        """Whether a server of ours is away, which whoever restarts it reports."""
        return self._limits.is_own_server and isinstance(error, Unreachable) and not error.was_sent

    async def _ask(self, request: Request) -> Answer:
        """Tries until there is an answer, as often as the limits allow."""
        place, tries = self._queue.place(), Counter[str]()
        async for attempt in stamina.retry_context(
            on=lambda error: self._wait_after(error, tries), attempts=None, timeout=None
        ):
            with attempt:
                try:
                    async with self._queue.slot(place, request.estimated_tokens) as slot:
                        self.stats.retries += tries["sent"] > 0
                        tries["sent"] += 1
                        with request_in_flight():
                            return await self._try(request, slot)
                except EmptyReply as error:
                    tries["empty"] += 1
                    if tries["empty"] >= EMPTY_REPLIES_THAT_COUNT:
                        return error.answer
                    raise
        raise AssertionError("a retry context returns or raises")

    def _wait_after(self, error: Exception, tries: Counter[str]) -> float | bool:
        """Returns the seconds until the next try, or False where there is none.

        429s are counted apart, and not those while the server refuses all; tries of a server that is away do
        not count, and the queue waits for it.
        """
        limits = self._limits
        if not isinstance(error, Retryable):
            return False
        if not isinstance(error, EmptyReply | Throttled):
            tries["empty"] = 0
        if error.server_is_away:
            return 0.0
        if isinstance(error, Throttled):
            tries["refused"] += 1
            tries["429"] += not self._queue.refuses_all
            is_over, doublings = tries["429"] >= limits.throttled_attempts, tries["refused"]
        else:
            tries["failed"] += 1
            is_over, doublings = tries["failed"] >= limits.attempts, tries["failed"] - 1
        if is_over:
            return False
        backoff = min(limits.longest_wait, limits.first_wait * 2.0 ** min(30, doublings))
        return max(backoff * jitter(), error.retry_after or 0.0)

    async def _try(self, request: Request, slot: Slot) -> Answer:
        """Sends a request and reads the reply."""
        try:
            reply = await self._send(request.path, request.body, self.config.timeout_seconds)
            self._queue.reached = self._queue.has_replied = True
            parsed = await self.read_reply(request, reply)
        except Retryable as error:
            self._note_failure(request, error, slot)
            raise
        answer = replace(parsed, seconds=self._queue.now() - slot.sent_at)
        self._queue.answered(slot, answer.usage.input_tokens + answer.usage.output_tokens)
        self._unexplained.clear()
        self.count(request, answer)
        if self.stats.answered <= _LOOKED_AT and reply.status == 200:
            reading = Reading(request, json_object(reply), answer)
            seen = self.seen({"plain": reading, "limit": reading})
            self._warn(await apart(len(reply.body), free_findings, seen))
        if answer.is_empty:
            empty = EmptyReply(answer)
            self.stats.last_error = empty.reason
            raise empty
        return answer

    async def read_reply(self, request: Request, reply: HttpReply) -> Answer:
        """Returns what a reply says: an error too, under whatever status, where it is the model's outcome."""
        if reply.status == 200:
            body = json_object(reply)
            if body.get("choices") or not {"error", "detail"} & body.keys() or body.get("type") == "message":
                return await apart(len(reply.body), self.config.read, request, body)
        failure = read_failure(reply)
        finish = classify(failure, self.config, request, self._settings.context, listed_names(self.server))
        self.stats.too_long += finish is Finish.CONTEXT_OVERFLOW
        return Answer(Reply(text="", finish=finish), Usage(requests=1), 0.0, self.config.model)

    def count(self, request: Request, answer: Answer) -> None:
        """Counts a reply, for the summary and the budget."""
        stats, usage, finish = self.stats, answer.usage, answer.reply.finish
        stats.count_answer(usage.input_tokens, usage.output_tokens, answer.seconds)
        if finish is Finish.LENGTH and 0 < usage.output_tokens < request.sampling.max_tokens:
            stats.cut_by_context += 1
        else:
            stats.truncated += finish is Finish.LENGTH
        if usage.uncounted:
            stats.uncounted += 1
            stats.estimated_input_tokens += request.asked_tokens
            stats.estimated_output_tokens += estimated_tokens(answer.reply.text, answer.reply.reasoning)

    def _note_failure(self, request: Request, error: Retryable, slot: Slot) -> None:
        """Tells the queue of a failed try."""
        reason = self.secrets.scrub_message(error.reason)
        if not self._is_reported_elsewhere(error):
            self.stats.last_error = self.stats.retried_error = reason
        if isinstance(error, Malformed | Unreachable) and error.was_sent:
            self._queue.reached = True
            self.stats.count_lost_reply(request.asked_tokens)
        if isinstance(error, Malformed):
            self._useless[type(error)] += 1
            is_alias = isinstance(error, OtherModel) and error.served in self.server.listed
            is_wrong = self._useless[OtherModel] >= _BY_ANOTHER_MODEL or self._useless.total() >= _UNREADABLE
            if (is_wrong or is_alias) and not self.stats.answered:
                raise self._unreadable_error(error) from None
        if (error.retry_after or 0.0) > self._limits.longest_retry_after:
            self._queue.wait_for_server(error.retry_after or 0.0, reason)
        elif isinstance(error, Throttled):
            self.stats.throttled += 1
            self._queue.throttled(slot, error.retry_after, reason)
        else:
            is_away = self._queue.failed(reason, error.retry_after)
            error.server_is_away = is_away and not self._limits.is_own_server
            return
        self._queue.raise_if_stopped()

    def _unexplained_error(self, error: UnexplainedError, request: Request) -> EndpointError:
        """Returns the error of one question, or of the model after several in a row met the same."""
        if self._queue.stopped:
            return self._queue.stopped
        self._queue.replied()
        if any(status != error.status for status, _ in self._unexplained):
            self._unexplained.clear()
            self.stats.unexplained = 0
        self.stats.unexplained += 1
        self._unexplained.add((error.status, request.payload))
        if len(self._unexplained) < _UNEXPLAINED:
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

    # Who is behind the address, and how it behaves

    async def learn_server(self) -> ServerInfo:
        """Asks the server what it serves and which models it lists."""
        self.server = await self.config.server_info(self.fetch)
        return self.server

    async def identify_server(self) -> ServerInfo:
        """Asks the server which model it serves.

        Raises:
            ModelUnavailableError: the server answers to any name, and does not list this one; a
                `ServerUnreachableError` where it does not answer.
        """
        await self.learn_server()
        if reason := await self.any_name_error():
            error = ModelUnavailableError(reason)
            self._queue.stop(error)
            raise error
        if not lists_model(self.server, self.config):
            self._say(
                f"the server does not list {self.config.model!r} ({listed_names(self.server)}); it is asked"
                " for by that name all the same"
            )
        self._warn(free_findings(self.seen({})))
        return self.server

    async def any_name_error(self) -> str:
        """Asks a server that does not list the row's model for one that nobody has.

        Returns:
            That there is an answer all the same, and what to do; empty where there is none.
        """
        if lists_model(self.server, self.config):
            return ""
        prompt = Completion("1, 2,") if self.kind == "base" else Chat((Message("user", "Say yes."),))
        request = self.request(prompt, Sampling(max_tokens=1))
        body = {**request.body, "model": _NONSENSE}
        reply = await self.fetch(request.path, body, seconds=self.config.timeout_seconds)
        if reply.status != 200 or b'"choices"' not in reply.body:
            return ""
        return (
            f"the server does not list {self.config.model!r} and answers to any name ({_NONSENSE!r} too), so"
            f" which model replies is unknown; {listed_names(self.server)}: ask for one of these, or name the"
            " one that replies with `served_as: [NAME]` in the api block of its row"
        )

    def seen(self, replies: Mapping[str, Reading]) -> Seen:
        """Returns what the checks of `probe` look at."""
        return Seen(self.config, self.kind, self.server, self._settings, replies)

    def _warn(self, findings: Iterable[str]) -> None:
        """Notes and shows what the checks found that need no question of their own."""
        for finding in map(self.secrets.scrub_message, findings):
            if finding not in self.stats.findings:
                self.stats.findings.append(finding)
                self._say(finding)

    async def fetch(
        self, path: str, body: dict[str, Any] | None = None, *, seconds: float = 10.0
    ) -> HttpReply:
        """Sends a request for what a server says of itself, until it replies."""
        place = self._queue.place()
        while True:
            async with self._queue.slot(place, 0) as slot:
                try:
                    reply = await self._send(path, body, seconds)
                    if reply.status not in _BUSY:
                        slot.is_answered = True
                        self._queue.replied()
                        return reply
                    failure = read_failure(reply)
                    reason, wait = f"{path}: {failure.status}, {failure.quote}", failure.wait
                except ModelUnavailableError as error:
                    raise type(error)(self.secrets.scrub_message(str(error))) from None
                except Retryable as error:
                    reason, wait = f"{path}: {error.reason}", None
                    self._queue.reached |= error.was_sent
                self._queue.failed(self.secrets.scrub_message(reason), wait)
                self._queue.raise_if_stopped()
            await asyncio.sleep(self._limits.first_wait * jitter())

    # What `probe` asks

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
        began, wait = time.monotonic(), self.config.timeout_seconds
        reply = await self.fetch(request.path, request.body, seconds=wait)
        seconds = time.monotonic() - began
        if self._cache is not None and reply.status == 200:
            text = Reply(text=reply.body.decode("utf-8", "replace"))
            self._cache.put(key, probed(self.id), Answer(text, Usage(requests=1), seconds, ""))
        return reply, seconds


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
    async with open_client(config, secrets) as client:
        yield OpenModel(
            model_id, kind, config, client.send, queue, secrets, settings=settings, cache=cache, say=tell
        )
