"""One server and one model: questions until they are answered, and who is behind the address."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

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
from triathlon_runner.llm._checks import Reading, Seen, free_findings
from triathlon_runner.llm._errors import classify, json_object, read_failure
from triathlon_runner.llm._queue import RequestQueue, Slot, jitter, silent
from triathlon_runner.llm._secrets import Secrets
from triathlon_runner.llm._server_info import NONSENSE, any_name_error, listed_names, lists_model
from triathlon_runner.llm.provider import ApiConfig, HttpReply, Request, Send, ServerInfo, estimated_tokens
from triathlon_runner.records import Finish, Reply, Usage

stamina.instrumentation.set_on_retry_hooks([])  # only the last error is reported

_UNREADABLE: Final = 12
"""Stop the model after this many unreadable replies if none was ever valid: base_url is probably wrong."""
_BY_ANOTHER_MODEL: Final = 3
"""Stop the model after this many replies by another model if none was by the one asked for."""
_BUSY: Final = (429, 502, 503, 504)
"""Statuses with which a server says that it cannot say now what it serves."""
_LOOKED_AT: Final = 3
"""First replies that are looked at for signs of a server that is set otherwise than its row says."""


class Endpoint:
    """Gets one answer to one question, or raises an error that says why there is none."""

    def __init__(
        self,
        config: ApiConfig,
        send: Send,
        queue: RequestQueue,
        secrets: Secrets,
        settings: ModelSettings = ModelSettings(),  # noqa: B008  it cannot be changed
        say: Callable[[str], None] = silent,
    ) -> None:
        """See `open_model`."""
        self.config, self.stats, self.secrets = config, queue.stats, secrets
        self._send, self._queue, self._limits = send, queue, queue.limits
        self._settings, self._say = settings, say
        self.server = ServerInfo()
        self._useless: Counter[type[Malformed]] = Counter()
        self._unexplained: set[tuple[int, bytes]] = set()
        """Status and question of the last errors without an explanation; an answer clears it."""

    def request(self, prompt: Chat | Completion, sampling: Sampling) -> Request:
        """Returns a question as it is sent."""
        if self._settings.merges_system and isinstance(prompt, Chat):
            prompt = prompt.with_merged_system()
        limit = sampling.max_tokens + self.config.reasoning_max_tokens
        return self.config.request(prompt, replace(sampling, max_tokens=limit))

    async def answer(self, request: Request) -> Answer:
        """Asks until there is an answer."""
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
        self._count(request, answer)
        if self.stats.answered <= _LOOKED_AT and reply.status == 200:
            reading = Reading(request, json_object(reply), answer)
            asked: ModelKind = "instruct" if request.is_chat else "base"
            seen = self.seen(asked, {"plain": reading, "limit": reading})
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
        finish = classify(failure, self.config, request, self._settings.context, self.listed)
        self.stats.too_long += finish is Finish.CONTEXT_OVERFLOW
        return Answer(Reply(text="", finish=finish), Usage(requests=1), 0.0, self.config.model)

    def _count(self, request: Request, answer: Answer) -> None:
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

    def count_probe(self, request: Request, answer: Answer | None, seconds: float) -> None:
        """Counts a reply to a question of `probe`, for the budget."""
        if answer is None:
            self.stats.count_lost_reply(request.asked_tokens)
        else:
            self._count(request, replace(answer, seconds=seconds))

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

    # Who is behind the address, and how it behaves

    @property
    def listed(self) -> str:
        """Which models the server lists, as part of a sentence; empty where it has no list."""
        return listed_names(self.server)

    async def learn_server(self) -> ServerInfo:
        """Asks the server what it serves and which models it lists."""
        self.server = await self.config.server_info(self.fetch)
        return self.server

    async def identify_server(self, kind: ModelKind) -> ServerInfo:
        """Asks the server which model it serves.

        Raises:
            ModelUnavailableError: the server answers to any name, and does not list this one; a
                `ServerUnreachableError` where it does not answer.
        """
        await self.learn_server()
        if not lists_model(self.server, self.config):
            if await self.answers_to_any_name(kind):
                error = ModelUnavailableError(any_name_error(self.server, self.config))
                self._queue.stop(error)
                raise error
            name = repr(self.config.model)
            self._say(
                f"the server does not list {name} ({self.listed}); it is asked for by that name all the same"
            )
        self._warn(free_findings(self.seen(kind, {})))
        return self.server

    async def answers_to_any_name(self, kind: ModelKind) -> bool:
        """Asks for a model that nobody has; returns whether there is an answer all the same."""
        prompt = Completion("1, 2,") if kind == "base" else Chat((Message("user", "Say yes."),))
        request = self.request(prompt, Sampling(max_tokens=1))
        body = {**request.body, "model": NONSENSE}
        reply = await self.fetch(request.path, body, seconds=self.config.timeout_seconds)
        return reply.status == 200 and b'"choices"' in reply.body

    def seen(self, kind: ModelKind, replies: Mapping[str, Reading]) -> Seen:
        """Returns what the checks of `probe` look at."""
        return Seen(self.config, kind, self.server, self._settings, replies)

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
