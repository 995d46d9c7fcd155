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
    NeverReachable,
    OtherModel,
    Retryable,
    Sampling,
    ServerUnreachableError,
    Throttled,
    UnexplainedError,
    Unreachable,
    request_in_flight,
)
from triathlon_runner.llm._checks import Reading, Seen, free_findings
from triathlon_runner.llm._errors import classify, json_object, read_failure
from triathlon_runner.llm._lengths import Asked
from triathlon_runner.llm._queue import RequestQueue, Slot, jitter, silent
from triathlon_runner.llm._rates import exhausted_for
from triathlon_runner.llm._secrets import Secrets
from triathlon_runner.llm._server_info import NONSENSE, any_name_error, listed_names, lists_model
from triathlon_runner.llm.provider import (
    ApiConfig,
    HttpReply,
    ParsedReply,
    Question,
    Request,
    Sender,
    ServerInfo,
    estimated_tokens,
)
from triathlon_runner.records import Finish, Reply, Usage

stamina.instrumentation.set_on_retry_hooks([])  # only the last error is reported

_UNREADABLE: Final = 12
"""Stop the model after this many unreadable replies if none was ever valid: base_url is probably wrong."""
_BY_ANOTHER_MODEL: Final = 3
"""Stop the model after this many replies by another model if none was by the one asked for."""
_BUSY: Final = (429, 502, 503, 504)
"""Statuses with which a server says that it cannot say now what it serves."""
_FIRST_SECONDS, _TIMES_THE_EXPECTED = 3600.0, 3.0
"""Longest wait for the first reply of a server of our own, and for later ones by its measured speed."""
_LOOKED_AT: Final = 3
"""First replies that are looked at for signs of a server that is set otherwise than its row says."""


class Endpoint:
    """Gets one answer to one question, or raises an error that says why there is none."""

    def __init__(
        self,
        config: ApiConfig,
        client: Sender,
        queue: RequestQueue,
        secrets: Secrets,
        settings: ModelSettings = ModelSettings(),  # noqa: B008  it cannot be changed
        say: Callable[[str], None] = silent,
    ) -> None:
        """See `open_model`."""
        self.config, self.stats, self.secrets = config, queue.stats, secrets
        self._client, self._queue, self._limits = client, queue, queue.limits
        self._settings, self._say = settings, say
        self._slowest = 0.0
        """Seconds a token of the slowest reply."""
        self._server, self._noted_silent_cut = ServerInfo(), False
        self._useless: Counter[type[Malformed]] = Counter()
        self._unexplained: list[tuple[int, bytes]] = []
        """Status and question of the last errors without an explanation; an answer clears the list."""

    def request(self, prompt: Chat | Completion, sampling: Sampling) -> Request:
        """Returns a question as it is sent."""
        if self._settings.merges_system and isinstance(prompt, Chat):
            prompt = prompt.with_merged_system()
        limit = sampling.max_tokens + self.config.reasoning_max_tokens
        return self.config.request(Question(prompt, replace(sampling, max_tokens=limit)))

    async def answer(self, request: Request) -> Answer:
        """Asks until there is an answer.

        Raises:
            ModelUnavailableError: no question can succeed for now; the model is stopped.
            EndpointError: no answer to this one after all retries.
        """
        of_question, is_reported = "", False
        self._note_silent_cut(request)
        try:
            return await self._ask(request)
        except Malformed as error:
            final: EndpointError = self._unreadable_error(error)
        except Retryable as error:
            # whoever restarts a server of ours reports that it is away
            is_reported = self._limits.is_own_server and isinstance(error, Unreachable) and not error.was_sent
            final = EndpointError(error.reason)
        except UnexplainedError as error:
            of_question = "" if self._queue.stopped else self.secrets.scrub_message(str(error))
            final = self._unexplained_error(error, request)
        except EndpointError as error:
            final = error
        final = type(final)(self.secrets.scrub_message(str(final)))
        self.stats.failed += 1
        if not is_reported:
            self.stats.last_error, self.stats.retried_error = str(final), ""
        if isinstance(final, ModelUnavailableError):
            final.of_question = of_question
            self._queue.stop(final)
        raise final

    def _note_silent_cut(self, request: Request) -> None:
        """Shows once that Ollama may cut questions without an error; their lengths are estimates."""
        context = self._server.context
        if self._server.server == "ollama" and context and request.estimated_tokens > context:
            if not self._noted_silent_cut:
                self._say(
                    f"Ollama's context is {context} tokens, and questions with their replies take about"
                    f" {request.estimated_tokens}: it cuts them without an error; start it with a larger"
                    " OLLAMA_CONTEXT_LENGTH, or set a smaller `max_tokens` in the row"
                )
            self._noted_silent_cut = True

    async def _ask(self, request: Request) -> Answer:
        """Tries until there is an answer: so often, 429s and tries of a server that is away not counted."""
        limits, place = self._limits, self._queue.place()
        tries: Counter[str] = Counter()
        async for attempt in stamina.retry_context(
            on=lambda error: isinstance(error, Retryable) and (error.retry_after or True),
            attempts=limits.attempts,
            timeout=None,
            wait_initial=limits.first_wait / 2,
            wait_max=limits.longest_wait,
            wait_jitter=limits.first_wait / 2,
            wait_exp_base=1.7,
        ):
            with attempt:
                return await self._counted_try(request, place, tries)
        raise AssertionError("a retry context returns or raises")

    async def _counted_try(self, request: Request, place: int, tries: Counter[str]) -> Answer:
        while True:
            try:
                async with self._queue.slot(place, request.estimated_tokens) as slot:
                    self.stats.retries += tries["sent"] > 0
                    tries["sent"] += 1
                    with request_in_flight():
                        return await self._try(request, slot)
            except Throttled as error:
                tries["refused"] += 1
                tries["throttled"] += not self._queue.refuses_all
                if tries["throttled"] >= self._limits.throttled_attempts:
                    raise EndpointError(error.reason) from None
                backoff = min(
                    self._limits.longest_wait,
                    self._limits.first_wait * 2.0 ** min(30, tries["refused"]),
                )
                await asyncio.sleep(max(backoff * jitter(), error.retry_after or 0.0))
            except EmptyReply as error:
                tries["empty"] += 1
                if tries["empty"] >= EMPTY_REPLIES_THAT_COUNT:
                    return error.answer
                raise
            except Retryable as error:
                tries["empty"] = 0
                if not error.server_is_away:
                    raise

    async def _try(self, request: Request, slot: Slot) -> Answer:
        """Sends a request and reads the reply."""
        try:
            reply = await self._client.send(request.path, request.body, self._seconds(request))
            self._queue.reached = self._queue.has_replied = True
            parsed = await self.read_reply(request, reply)
        except NeverReachable as error:
            kind = ServerUnreachableError if error.is_temporary else ModelUnavailableError
            raise kind(error.reason) from None
        except Retryable as error:
            self._note_failure(request, error, slot)
            raise
        answer = Answer(parsed.reply, parsed.usage, self._queue.now() - slot.sent_at, parsed.served_model)
        self._queue.answered(slot, parsed.usage.input_tokens + parsed.usage.output_tokens)
        if (wait := exhausted_for(reply.headers)) is not None:
            self._queue.wait_for_server(wait, "its limit of requests or tokens is used up")
        self._unexplained.clear()
        self._count(request, answer)
        if self.stats.answered <= _LOOKED_AT and reply.status == 200:
            reading = Reading(request, json_object(reply), parsed)
            asked: ModelKind = "instruct" if request.question.is_chat else "base"
            seen = self.seen(asked, {"plain": reading, "limit": reading})
            self._warn(await apart(len(reply.body), free_findings, seen))
        if parsed.is_empty:
            empty = EmptyReply(answer)
            self.stats.last_error = empty.reason
            raise empty
        return answer

    async def read_reply(self, request: Request, reply: HttpReply) -> ParsedReply:
        """Returns what a reply says: an error too, under whatever status, where it is the model's outcome."""
        if reply.status == 200:
            body = json_object(reply)
            if body.get("choices") or not {"error", "detail"} & body.keys() or body.get("type") == "message":
                return await apart(len(reply.body), self.config.read, request, body)
        question = request.question
        asked = Asked(question.sampling.max_tokens, self._settings.context, question.has_system)
        failure = read_failure(reply.status, reply.body, reply.headers)
        finish = classify(failure, self.config, asked, self.listed)
        self.stats.too_long += finish is Finish.CONTEXT_OVERFLOW
        return ParsedReply(Reply(text="", finish=finish), Usage(requests=1), self.config.model)

    def _count(self, request: Request, answer: Answer) -> None:
        stats, usage, finish = self.stats, answer.usage, answer.reply.finish
        stats.count_answer(usage.input_tokens, usage.output_tokens, answer.seconds)
        if finish is Finish.LENGTH and 0 < usage.output_tokens < request.question.sampling.max_tokens:
            stats.cut_by_context += 1
        else:
            stats.truncated += finish is Finish.LENGTH
        if usage.uncounted:
            written = estimated_tokens(answer.reply.text, answer.reply.reasoning)
            stats.count_uncounted(request.question.estimated_tokens, written)
        if usage.output_tokens:
            self._slowest = max(self._slowest, answer.seconds / usage.output_tokens)

    def count_probe(self, request: Request, parsed: ParsedReply | None, seconds: float) -> None:
        """Counts a reply to a question of `probe`, for the budget."""
        if parsed is None:
            self.stats.count_lost_reply(request.question.estimated_tokens)
        else:
            self._count(request, Answer(parsed.reply, parsed.usage, seconds, parsed.served_model))

    def _seconds(self, request: Request) -> float:
        """Returns the longest wait for a reply; that of a server of our own follows from its speed."""
        if not self._limits.timeout_follows_speed:
            return self.config.timeout_seconds
        expected = self._slowest * request.question.sampling.max_tokens
        return max(
            self.config.timeout_seconds, _TIMES_THE_EXPECTED * expected if expected else _FIRST_SECONDS
        )

    def _note_failure(self, request: Request, error: Retryable, slot: Slot) -> None:
        """Tells the queue of a failed try.

        Raises:
            ModelUnavailableError: no other try can do better.
        """
        reason = self.secrets.scrub_message(error.reason)
        is_lost = isinstance(error, Malformed) or (isinstance(error, Unreachable) and error.was_sent)
        if not (self._limits.is_own_server and isinstance(error, Unreachable) and not is_lost):
            self.stats.last_error = self.stats.retried_error = reason
        if is_lost:
            self._queue.reached = True
            self.stats.count_lost_reply(request.question.estimated_tokens)
        if isinstance(error, Malformed):
            self._useless[type(error)] += 1
            is_alias = isinstance(error, OtherModel) and error.served in self._server.listed
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

    # Who is behind the address, and how it behaves

    @property
    def listed(self) -> str:
        """Which models the server lists, as part of a sentence; empty where it has no list."""
        return listed_names(self._server)

    async def learn_server(self) -> ServerInfo:
        """Asks the server what it serves and which models it lists."""
        self._server = await self.config.server_info(self.fetch)
        return self._server

    @property
    def lists_model(self) -> bool:
        """Whether the server lists the row's model, or has no list."""
        return lists_model(self._server, self.config)

    async def identify_server(self, kind: ModelKind) -> ServerInfo:
        """Asks the server which model it serves; see `OpenModel.identify_server`."""
        await self.learn_server()
        if not self.lists_model:
            if await self.answers_to_any_name(kind):
                error = ModelUnavailableError(any_name_error(self._server, self.config))
                self._queue.stop(error)
                raise error
            name = repr(self.config.model)
            self._say(
                f"the server does not list {name} ({self.listed}); it is asked for by that name all the same"
            )
        self._warn(free_findings(self.seen(kind, {})))
        return self._server

    async def answers_to_any_name(self, kind: ModelKind) -> bool:
        """Asks for a model that nobody has; returns whether there is an answer all the same."""
        prompt = Completion("1, 2,") if kind == "base" else Chat((Message("user", "Say yes."),))
        request = self.request(prompt, Sampling(max_tokens=1))
        body = {**request.body, "model": NONSENSE}
        reply = await self.fetch(request.path, body, seconds=self.config.timeout_seconds)
        return reply.status == 200 and b'"choices"' in reply.body

    def seen(self, kind: ModelKind, replies: Mapping[str, Reading]) -> Seen:
        """Returns what the checks of `probe` look at."""
        return Seen(self.config, kind, self._server, self._settings, replies)

    def _warn(self, findings: Iterable[str]) -> None:
        """Notes and shows what the checks found that need no question of their own."""
        for finding in map(self.secrets.scrub_message, findings):
            if finding not in self.stats.findings:
                self.stats.findings.append(finding)
                self._say(finding)

    async def fetch(
        self, path: str, body: dict[str, Any] | None = None, *, seconds: float = 10.0
    ) -> HttpReply:
        """Sends a request for what a server says of itself, until it replies.

        Raises:
            ServerUnreachableError: it did not for as long as an outage may last.
        """
        place = self._queue.place()
        while True:
            async with self._queue.slot(place, 0) as slot:
                try:
                    reply = await self._client.send(path, body, seconds)
                    if reply.status not in _BUSY:
                        slot.is_answered = True
                        self._queue.replied()
                        return reply
                    failure = read_failure(reply.status, reply.body, reply.headers)
                    error = Retryable(f"{path}: {failure.status}, {failure.quote}", failure.wait)
                except NeverReachable as never:
                    kind = ServerUnreachableError if never.is_temporary else ModelUnavailableError
                    raise kind(self.secrets.scrub_message(never.reason)) from None
                except Retryable as failed:
                    error = Retryable(f"{path}: {failed.reason}")
                    self._queue.reached |= isinstance(failed, Unreachable) and failed.was_sent
                self._queue.failed(self.secrets.scrub_message(error.reason), error.retry_after)
                self._queue.raise_if_stopped()
            await asyncio.sleep(self._limits.first_wait * jitter())
