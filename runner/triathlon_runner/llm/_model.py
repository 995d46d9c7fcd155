"""A model: its cache of replies, questions until they are answered, and who is behind the address."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final
from weakref import WeakValueDictionary

import stamina
import stamina.instrumentation

from triathlon_runner.concurrency import in_other_process
from triathlon_runner.llm import _api
from triathlon_runner.llm._cache import ReplyCache, reply_key
from triathlon_runner.llm._errors import classify, error_of, json_object, read_failure
from triathlon_runner.llm._queue import Limits, RequestQueue, Slot, jitter
from triathlon_runner.llm.probe import Reading, Seen, free_findings
from triathlon_runner.llm.provider import (
    ApiConfig,
    HttpReply,
    Request,
    Secrets,
    Send,
    ServerInfo,
    is_on_own_network,
)
from triathlon_runner.records import Finish, Outcome, Reply, Usage, samples_are_copies

stamina.instrumentation.set_on_retry_hooks([])  # only the last error is reported

_EMPTY: Final = 5
"""After so many empty replies in a row to one question the empty reply counts as the model's answer."""
_UNREADABLE: Final = 12
"""Stop the model after this many unreadable replies if none was ever valid: base_url is probably wrong. After
this many replies in a row by another model its server has changed: each of them may be charged for."""
_BY_ANOTHER_MODEL: Final = 3
"""Stop the model after this many replies by another model if none was by the one asked for."""
_UNEXPLAINED: Final = 5
"""Stop the model after so many different questions in a row with the same 4xx that no rule explains."""
_LOOKED_AT: Final = 3
"""First replies that are looked at for signs of a server that is set otherwise than its row says."""
_FULL: Final = 0.9
"""Share of a context from which on it is full: servers keep a few tokens."""
_BUSY: Final = (429, 502, 503, 504)
"""Statuses with which a server says that it cannot say now what it serves."""
_TRIES_OF_A_GUESS: Final = 5
"""After so many a server that answers its other paths has nothing at this one; each minute without a reply
counts as a try."""
_SLOW_SECONDS: Final = 12.0
"""After so long without a reply to a small question a line says what is waited for."""
_NONSENSE: Final = "triathlon-no-such-model"
"""The name of a model that nobody has."""


def _next_try(error: Exception) -> float | bool:
    """Returns the seconds until a question is tried again, or False where it is not."""
    if isinstance(error, _api.Retryable) and error.wait is not None:
        return error.wait
    return False


@dataclass(eq=False, repr=False)
class OpenModel:
    """Implements `Model`. Made by `open_model`."""

    id: str
    kind: _api.ModelKind
    config: ApiConfig
    queue: RequestQueue
    send: Send
    secrets: Secrets
    settings: _api.ModelSettings = _api.ModelSettings()  # noqa: RUF009  it cannot be changed
    cache: ReplyCache | None = None
    server: ServerInfo = field(default=ServerInfo(), init=False)
    """Empty until the server was asked."""
    _locks: WeakValueDictionary[bytes, asyncio.Lock] = field(default_factory=WeakValueDictionary, init=False)
    """By the cache's keys: while a question is in flight, an equal one waits for its reply."""
    _answered_now: set[bytes] = field(default_factory=set, init=False)
    """Keys of the questions that the server has answered since the model was opened."""
    _useless: Counter[type[_api.Malformed]] = field(default_factory=Counter, init=False)
    _unexplained: set[tuple[int, str]] = field(default_factory=set, init=False)
    """Status and question of the last errors without an explanation; an answer clears it."""

    @property
    def stats(self) -> _api.EndpointStats:
        """Counters since the model was opened."""
        return self.queue.stats

    def request(self, prompt: _api.Chat | _api.Completion, sampling: _api.Sampling) -> Request:
        """Returns a question as it is sent."""
        if self.settings.merges_system and isinstance(prompt, _api.Chat):
            prompt = prompt.with_merged_system()
        limit = sampling.max_tokens + self.config.reasoning_max_tokens
        return self.config.request(prompt, replace(sampling, max_tokens=limit))

    async def ask(
        self, prompt: _api.Chat | _api.Completion, sampling: _api.Sampling, *, sample: int = 0
    ) -> _api.Answer:
        """Asks once; see `Model.ask`. `sample` makes no difference to a greedy question, `turn` does.

        Raises:
            ModelUnavailableError: no question to this model can succeed for now.
            EndpointError: no answer to this one after all retries.
            CacheError: the answer came but cannot be stored.
        """
        request = self.request(prompt, sampling)
        place = 0 if samples_are_copies(request.body) else sample
        key = self.cache_key(request, stop=sampling.stop, sample=place, turn=prompt.turn)
        async with self._locks.setdefault(key, asyncio.Lock()):
            answer = None if self.cache is None else self.cache.get(key)
            if answer is not None:
                self.stats.from_cache += 1
                answer = replace(answer, from_earlier_run=key not in self._answered_now)
            else:
                answer = await self._answer(request)
                self._answered_now.add(key)
                if self.cache is not None:
                    answer = self.cache.put(key, self.id, answer)
        finish = answer.reply.finish
        has_text = finish is Finish.STOP and answer.reply.text.strip()
        self.stats.outcomes[Outcome.PASSED if has_text else finish.outcome_without_answer] += 1
        return answer

    def cache_key(self, request: Request, **more: Any) -> bytes:
        """Returns the cache's key: all that shapes the reply; other weights are another model to it."""
        config = self.config
        if config.shaping_headers:
            more["headers"] = json.dumps(config.shaping_headers, sort_keys=True)
        if server := self.server.identity:
            more["server"] = server
        fixed = {
            "provider": self.settings.engine or config.base_url,
            "model": config.model,
            "revision": config.revision,
            "path": request.path,
            "body": request.body,
        }
        return reply_key({**fixed, **more})

    # Until there is an answer

    async def _answer(self, request: Request) -> _api.Answer:
        """Tries until there is an answer, as often as the limits allow.

        Its usage is its own: a line does not tell what went wrong on the way. `stats` count all replies.
        """
        place, tries = self.queue.place(), Counter[str]()
        try:
            async for attempt in stamina.retry_context(on=_next_try, attempts=None, timeout=None):
                with attempt:
                    async with self.queue.slot(place, request.estimated_tokens) as slot:
                        self.stats.retries += tries["sent"] > 0
                        tries["sent"] += 1
                        return await self._try(request, slot, tries)
            raise AssertionError("a retry context returns or raises")
        except (_api.Retryable, _api.EndpointError) as error:
            final = self._final(error, request)
        raise final  # not inside `except`: the error would carry what the server sent along

    def _wait_after(self, error: _api.Retryable, tries: Counter[str]) -> float | None:
        """Returns the seconds until the next try of a question; None where there is none.

        429s are counted apart, and not those while the server refuses all; tries of a server that is away do
        not count, and the queue waits for it.
        """
        limits, is_throttled = self.queue.limits, isinstance(error, _api.Throttled)
        if is_throttled:
            tries["refused"] += 1
            tries["429"] += not self.queue.refuses_all
            is_over, doublings = tries["429"] >= limits.throttled_attempts, tries["refused"]
        elif self.queue.is_away and not limits.is_own_server:
            return 0.0
        else:
            tries["failed"] += 1
            is_over, doublings = tries["failed"] >= limits.attempts, tries["failed"] - 1
        if is_over:
            return None
        backoff = min(limits.longest_wait, limits.first_wait * 2.0 ** min(30, doublings))
        asked = error.retry_after or 0.0
        return max(backoff * jitter(), asked if is_throttled else min(asked, self.queue.outage_left))

    async def _try(self, request: Request, slot: Slot, tries: Counter[str]) -> _api.Answer:
        """Sends a request and reads the reply."""
        try:
            reply = await self.send(request.path, request.body, self.config.timeout_seconds)
            self.queue.reached = True
            parsed = await self.read_reply(request, reply)
        except _api.Retryable as error:
            if not isinstance(error, _api.Throttled):
                tries["empty"] = 0
            self._note_failure(request, error, slot, tries)
            raise
        except asyncio.CancelledError:  # a stop that gives up what is in flight
            if self.queue.stopped is None or self.stats.answered:  # a server that refuses all charges nothing
                self.stats.count_lost_reply(request.asked_tokens)
            raise
        answer = replace(parsed, seconds=self.queue.now() - slot.sent_at)
        is_cut = self._was_cut_by_context(answer, request.sampling.max_tokens)
        tokens = self.stats.count_answer(answer, request.asked_tokens, is_cut_by_context=is_cut)
        self.queue.answered(slot, tokens)
        self._unexplained.clear()
        self._useless.clear()
        # Ollama cuts a long question without a word
        may_be_cut = self.server.server == "ollama" and request.estimated_tokens > (
            self.server.context or math.inf
        )
        if (self.stats.answered <= _LOOKED_AT or may_be_cut) and not answer.is_passing:
            reading = Reading(request, json_object(reply), answer)
            await self._warn({"plain": reading, "limit": reading}, len(reply.body))
        if answer.is_empty:
            tries["empty"] += 1
            self.stats.last_error = (
                f"a reply without content ({_EMPTY} in a row count as the model's answer, where --attempts"
                " allows as many)"
            )
            if tries["empty"] < _EMPTY:
                empty = _api.Retryable(self.stats.last_error)
                empty.wait = self._wait_after(empty, tries)
                raise empty
        # A server with a larger context lets the model write on.
        return replace(answer, is_passing=answer.is_passing or is_cut)

    def _was_cut_by_context(self, answer: _api.Answer, max_tokens: int) -> bool:
        """Whether question and reply filled the context: the reply ended before the limit that was sent.

        Where the context is not known, that is said of a server on the own network alone: a provider has a
        limit of its own.
        """
        usage, context = answer.usage, self.server.context or self.settings.context
        is_short = answer.reply.finish is Finish.LENGTH and 0 < usage.output_tokens < max_tokens
        if context is None:
            return is_short and is_on_own_network(self.config.base_url)
        return is_short and usage.input_tokens + usage.output_tokens > _FULL * context

    async def read_reply(self, request: Request, reply: HttpReply) -> _api.Answer:
        """Returns what a reply says: an error too, under whatever status, where it is the model's outcome."""
        has_reply = False
        if reply.status == 200:
            body = json_object(reply)
            is_error = not {"error", "detail", "message", "msg", "base_resp"}.isdisjoint(body)
            has_reply = bool(body.get("choices") or body.get("type") == "message")
            if not error_of(body) and (has_reply or not is_error):
                return await in_other_process(len(reply.body), self.config.read, request, body)
        failure = read_failure(reply)
        try:
            finish = classify(failure, self.config, request, self.settings.context, self.server.names)
        except _api.Retryable as error:
            if has_reply and not isinstance(error, _api.Throttled):  # it broke off, and may be charged for
                raise _api.Lost(f"the server broke off the reply ({error.reason})") from None
            raise
        self.stats.too_long += finish is Finish.CONTEXT_OVERFLOW
        usage = Usage(requests=1, uncounted=int(finish in (Finish.LENGTH, Finish.STOP)))
        return _api.Answer(Reply(text="", finish=finish), usage, 0.0, self.config.model, is_passing=True)

    def _note_failure(self, request: Request, error: _api.Retryable, slot: Slot, tries: Counter[str]) -> None:
        """Counts a failed try, and says when the next one is; raises where no question can succeed."""
        reason = self.secrets.scrub_message(error.reason)
        if not self._is_reported_elsewhere(error):
            self.stats.last_error = self.stats.retried_error = reason
        if isinstance(error, _api.Lost):
            self.queue.reached = True
            self.stats.count_lost_reply(request.asked_tokens)
        if isinstance(error, _api.TimedOut):
            self.queue.timed_out(slot)
        if isinstance(error, _api.Malformed) and (
            isinstance(error, _api.OtherModel) or not self.stats.answered
        ):
            self._check_useless(error)
        if isinstance(error, _api.Throttled):
            error.wait = self._wait_after(error, tries)
            self.queue.throttled(slot, error.wait or 0.0, error.retry_after, reason)
            self.queue.raise_if_stopped()
        else:
            self.queue.failed(reason, error.retry_after)
            error.wait = self._wait_after(error, tries)

    def _is_reported_elsewhere(self, error: Exception) -> bool:
        """Whether a server of ours is away, which whoever restarts it reports."""
        return self.queue.limits.is_own_server and isinstance(error, _api.Unreachable)

    def _check_useless(self, error: _api.Malformed) -> None:
        """Raises the error that stops a model of which no reply can be used, or none any more."""
        self._useless[type(error)] += 1
        is_alias = isinstance(error, _api.OtherModel) and error.served in self.server.listed
        by_another = is_alias or self._useless[_api.OtherModel] >= _BY_ANOTHER_MODEL
        if (by_another and not self.stats.answered) or self._useless.total() >= _UNREADABLE:
            raise self.useless_error(error) from None

    def useless_error(self, error: _api.Malformed) -> _api.ModelUnavailableError:
        """Returns what to do about a server none of whose replies can be used."""
        if isinstance(error, _api.OtherModel):
            return _api.ModelUnavailableError(
                f"replies are not by the model that was asked for: {error.reason}"
            )
        return _api.ModelUnavailableError(
            f"expected replies of the {self.config.provider} protocol from {self.config.base_url!r}, got"
            f" {error.reason}; look at base_url and provider in the model's row (most addresses end with"
            " /v1)"
        )

    def _final(self, error: _api.Retryable | _api.EndpointError, request: Request) -> _api.EndpointError:
        """Returns why there is no answer, without keys; stops the model where no question can succeed."""
        final = _api.EndpointError(error.reason) if isinstance(error, _api.Retryable) else error
        of_question = ""
        if isinstance(error, _api.Malformed) and not self.stats.answered:
            # All tries of a question, and no answer.
            final = self.useless_error(error)
        elif isinstance(error, _api.UnexplainedError):
            of_question = "" if self.queue.stopped else str(error)
            final = self._unexplained_error(error, request)
        final = type(final)(self.secrets.scrub_message(str(final)))
        if not self._is_reported_elsewhere(error):
            self.stats.last_error, self.stats.retried_error = str(final), ""
        if isinstance(final, _api.ModelUnavailableError):
            final.of_question = self.secrets.scrub_message(of_question)
            self.queue.stop(final)
        return final

    def _unexplained_error(self, error: _api.UnexplainedError, request: Request) -> _api.EndpointError:
        """Returns the error of one question, or of the model after several in a row met the same."""
        if self.queue.stopped:
            return self.queue.stopped
        self.queue.replied()
        if any(status != error.status for status, _ in self._unexplained):
            self._unexplained.clear()
        self._unexplained.add((error.status, str(request.body)))
        count = len(self._unexplained)
        if count < _UNEXPLAINED:
            return _api.EndpointError(str(error))
        return _api.ModelUnavailableError(f"{count} different questions in a row met the same error: {error}")

    # Who is behind the address, and how it behaves

    async def fetch(
        self, path: str, body: dict[str, Any] | None = None, *, seconds: float = 10.0, is_guess: bool = False
    ) -> HttpReply:
        """Implements `Fetch`: sends a request until the server replies and is not busy.

        With `is_guess` the server may know no such path or name, which a proxy before it calls busy, or not
        reply to: after a few tries, or minutes, that is a 404.
        """
        place, tries, limits = self.queue.place(), 0.0, self.queue.limits
        while True:
            async with self.queue.slot(place, 0):
                wait: float | None = None
                slow = f"waiting for the reply to {path}"
                line = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self.queue.say, slow)
                try:
                    reply = await self.send(path, body, seconds)
                    self.queue.reached = True
                    if reply.status not in _BUSY:
                        self.queue.replied()
                        return reply
                    failure = read_failure(reply)
                    reason, wait = f"{failure.status}, {failure.quote}", failure.wait
                    # llama.cpp lists its model while it is loading it, and is busy at all other paths.
                    is_there = "loading" in failure.text.lower()
                except _api.ModelUnavailableError as error:
                    raise type(error)(self.secrets.scrub_message(str(error))) from None
                except _api.Retryable as error:
                    reason, is_there = error.reason, not isinstance(error, _api.Lost)
                    if isinstance(error, _api.Lost):
                        self.queue.reached = True
                        if body is not None:
                            self.stats.count_lost_reply(_api.estimated_tokens(str(body)))
                    if isinstance(error, _api.TimedOut):
                        tries += seconds // 60
                finally:
                    line.cancel()
                if not is_guess or is_there:
                    self.queue.failed(self.secrets.scrub_message(f"{path}: {reason}"), wait, is_only=True)
                    self.queue.raise_if_stopped()
                else:
                    tries += 1
                    if tries >= _TRIES_OF_A_GUESS:
                        self.queue.replied()
                        return HttpReply(404, b"", {})
            await asyncio.sleep(max(limits.first_wait * jitter(), min(wait or 0.0, limits.longest_wait)))

    async def identify_server(self) -> ServerInfo:
        """Asks the server which model it serves.

        Raises:
            ModelUnavailableError: the server answers to any name, and does not list this one; a
                `ServerUnreachableError` where it does not answer.
        """
        self.server = await self.config.server_info(self.fetch)
        if reason := await self.any_name_error():
            error = _api.ModelUnavailableError(reason)
            self.queue.stop(error)
            raise error
        if not self.server.lists(self.config):
            self.queue.say(
                f"the server does not list {self.config.model!r} ({self.server.names}); it is asked for by"
                " that name all the same"
            )
        await self._warn({})
        return self.server

    async def any_name_error(self) -> str:
        """Asks a server that does not list the row's model for one that nobody has.

        Returns:
            That there is an answer all the same, and what to do; empty where there is none.
        """
        if self.server.lists(self.config):
            return ""
        prompt = (
            _api.Completion("1, 2,")
            if self.kind == "base"
            else _api.Chat((_api.Message("user", "Say yes."),))
        )
        request = self.request(prompt, _api.Sampling(max_tokens=1))
        body = {**request.body, "model": _NONSENSE}
        reply = await self.fetch(request.path, body, seconds=self.config.timeout_seconds, is_guess=True)
        if reply.status != 200 or b'"choices"' not in reply.body:
            return ""
        return (
            f"the server does not list {self.config.model!r} and answers to any name ({_NONSENSE!r} too), so"
            f" which model replies is unknown; {self.server.names}: ask for one of these, or name the one"
            " that replies with `served_as: [NAME]` in the api block of its row"
        )

    async def _warn(self, replies: Mapping[str, Reading], size: int = 0) -> None:
        """Notes and shows what the free checks of `probe` find in the server's list and in a reply."""
        seen = Seen(self.config, self.kind, self.server, self.settings, replies)
        for finding in map(self.secrets.scrub_message, await in_other_process(size, free_findings, seen)):
            if finding not in self.stats.findings:
                self.stats.findings.append(finding)
                self.queue.say(finding)


@asynccontextmanager
async def open_model(
    model_id: str,
    kind: _api.ModelKind,
    config: ApiConfig,
    *,
    settings: _api.ModelSettings = _api.ModelSettings(),  # noqa: B008  it cannot be changed
    cache: ReplyCache | None = None,
    limits: Limits = Limits(),  # noqa: B008
    may_send: Callable[[], bool] = lambda: True,
    say: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[OpenModel]:
    """A model, ready to be asked until the `async with` block ends.

    Of attempts, waits and concurrency the row's own come before those in `limits`. While `may_send` returns
    False, questions wait until they are cancelled. `say` gets a line where the server cannot be reached or
    asks us to wait.

    Raises:
        UserError: an environment variable that the row names is not set, or a proxy cannot be used.
    """
    from triathlon_runner.llm._client import open_client  # noqa: PLC0415  0.7 s that no other command waits for

    secrets = Secrets(config)
    slots = config.concurrency or limits.concurrency
    limits = replace(
        limits,
        first_concurrency=slots if settings.engine else limits.first_concurrency,
        concurrency=slots,
        requests_per_minute=config.requests_per_minute,
        tokens_per_minute=config.tokens_per_minute,
    )

    def tell(message: str) -> None:
        say(f"{model_id}: {secrets.scrub_message(message)}")

    reached = bool(settings.engine)
    queue = RequestQueue(limits, may_send=may_send, say=tell, reached=reached)
    async with open_client(config, secrets, reached=reached) as send:
        yield OpenModel(model_id, kind, config, queue, send, secrets, settings, cache)
