"""One endpoint: sends questions, tries again, and finds out how much it can take."""

import asyncio
import math
from collections.abc import Mapping
from typing import NamedTuple

from triathlon_runner.endpoints._api import Answer, EndpointError
from triathlon_runner.endpoints._asking import request_in_flight
from triathlon_runner.endpoints._attempts import Budget
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import (
    ConnectionClosed,
    Malformed,
    ModelUnavailableError,
    NeverReachable,
    NullContent,
    OtherModel,
    Retryable,
    ServerAwayError,
    Throttled,
    UnexplainedError,
    Unreachable,
)
from triathlon_runner.endpoints._gate import Gate
from triathlon_runner.endpoints._http import HttpReply, Post
from triathlon_runner.endpoints._limits import Limits
from triathlon_runner.endpoints._refusals import judge_failure, read_failure
from triathlon_runner.endpoints._request import Question
from triathlon_runner.endpoints._response import Parsed, parse
from triathlon_runner.endpoints._secrets import Secrets
from triathlon_runner.endpoints._stats import EndpointStats
from triathlon_runner.endpoints._waits import exhausted_for
from triathlon_runner.records import Finish, Reply, Usage


class _Sent(NamedTuple):
    """A question on its way."""

    coming: "asyncio.Future[HttpReply]"
    at: float
    """By the gate's clock."""

    def cancel(self) -> None:
        self.coming.cancel()


_NEVER_UNDERSTOOD = 12
"""So many replies that are none, and not one that is: the row names another kind of server."""
_BY_ANOTHER_MODEL = 3
"""So many replies by another model, and none by the one that was asked for: the name is wrong."""


class Endpoint:
    """Gets one answer for one question, or says by a named error why there is none."""

    def __init__(
        self,
        *,
        config: ApiConfig,
        secrets: Secrets,
        post: Post,
        gate: Gate,
        limits: Limits,
        stats: EndpointStats,
    ) -> None:
        """Made by `open_model`."""
        self._config, self._secrets, self._post = config, secrets, post
        self._gate, self._limits, self._stats = gate, limits, stats
        self._malformed = self._by_another_model = 0
        self._unexplained: list[tuple[int, bytes]] = []
        """Status and question of the last errors that nothing explains; an answer ends the list."""

    async def answer(self, question: Question) -> Answer:
        """Asks until there is an answer.

        Raises:
            ModelUnavailableError: no question can succeed for now; the model is stopped.
            EndpointError: no answer to this one after all retries.
        """
        try:
            return await self._ask(question)
        except Malformed as error:
            raise self._final(self._not_understood(error)) from None
        except Retryable as error:
            raise self._final(EndpointError(error.reason)) from None
        except UnexplainedError as error:
            raise self._final(self._perhaps_all(error, question)) from None
        except EndpointError as error:
            raise self._final(error) from None

    def _perhaps_all(self, error: UnexplainedError, question: Question) -> EndpointError:
        """The error of one question, or of the model where several questions in a row meet the same."""
        if self._stats.stopped:
            return ModelUnavailableError(self._stats.stopped)
        asked = (error.status, question.payload)
        if self._unexplained and self._unexplained[-1][0] != error.status:
            self._unexplained.clear()
        if asked not in self._unexplained:
            self._unexplained.append(asked)
        if len(self._unexplained) < self._limits.unexplained:
            return EndpointError(str(error))
        return ModelUnavailableError(
            f"{len(self._unexplained)} different questions in a row met the same error: {error}; look at the"
            " model's row, or ask whoever runs the server"
        )

    def _not_understood(self, error: Malformed) -> EndpointError:
        """A server whose replies could never be read is of another kind: trying again does not mend that."""
        if self._stats.answered:
            return EndpointError(error.reason)
        if isinstance(error, OtherModel):
            return ModelUnavailableError(f"no reply was by the model that was asked for: {error.reason}")
        return ModelUnavailableError(
            f"expected replies of the OpenAI protocol from {self._config.base_url!r}, got {error.reason};"
            " look at base_url in the model's row (most end with /v1)"
        )

    def _final(self, error: EndpointError) -> EndpointError:
        message = self._secrets.scrub(str(error))
        self._stats.failed += 1
        self._stats.last_error = message
        if isinstance(error, ModelUnavailableError):
            self._gate.stop(message, type(error))
        return type(error)(message)

    async def _ask(self, question: Question) -> Answer:
        estimate, budget = question.estimate_tokens(), Budget(self._limits)
        ticket = self._gate.ticket(estimate, lambda: self._send(question))
        failed: Retryable | None = None
        while True:
            try:
                async with ticket as sent:
                    budget.begin()
                    with request_in_flight():
                        return await self._try(question, estimate, sent, first=failed is None)
            except Retryable as error:
                failed = error
            try:
                await budget.after(failed, self._gate.longest_wait)
            except NullContent as null:
                if not budget.believes_null:
                    raise
                self._stats.oddities["no content, several times: taken for an empty reply"] += 1
                return null.answer

    def _send(self, question: Question) -> _Sent:
        return _Sent(self._post(question.path, question.payload), self._gate.now())

    async def _try(self, question: Question, estimate: int, sent: _Sent, *, first: bool) -> Answer:
        try:
            reply = await (self._unless_it_hangs(question, sent) if first else self._reply(question, sent))
            parsed, headers = self._read(question, reply)
        except NeverReachable as error:
            kind = ServerAwayError if error.is_away else ModelUnavailableError
            raise kind(error.reason) from None
        except Retryable as error:
            self._note(error, sent.at)
            raise
        usage = parsed.usage
        self._gate.answered(sent.at, usage.input_tokens + usage.output_tokens, estimate)
        self._unexplained.clear()
        if (wait := exhausted_for(headers)) is not None:
            self._gate.wait_for_server(wait, "its limit of requests or tokens is used up")
        seconds = self._gate.now() - sent.at
        self._stats.count_answer(usage.input_tokens, usage.output_tokens, seconds)
        if usage.uncounted:
            said = parsed.reply
            self._stats.estimate_answer(question.characters, len(said.text) + len(said.reasoning))
        self._stats.oddities.update(parsed.oddities)
        self._stats.truncated += parsed.reply.finish is Finish.LENGTH
        answer = self._answer(parsed, seconds)
        if parsed.is_null:
            null = NullContent(answer)
            self._stats.retries += 1
            self._stats.last_error = null.reason
            raise null
        return answer

    async def _unless_it_hangs(self, question: Question, sent: _Sent) -> HttpReply:
        """The reply to a first try; later ones may take as long as the row allows.

        Raises:
            Unreachable: it takes far longer than others. The server may charge for it all the same, so its
                question's cost is counted, as an estimate.
        """
        seconds = self._gate.hangs_after
        try:
            async with asyncio.timeout(None if math.isinf(seconds) else seconds):
                return await self._reply(question, sent)
        except TimeoutError:
            self._stats.estimate_answer(question.characters, 0)
            raise Unreachable(
                f"no reply within {seconds:.0f} s, three times what the slowest of the last ones took"
            ) from None

    async def _reply(self, question: Question, sent: _Sent) -> HttpReply:
        """The reply; a kept connection that the server had closed costs a new connection, and no try."""
        try:
            reply = await sent.coming
        except ConnectionClosed:
            reply = await self._post(question.path, question.payload, True)
        self._gate.reached()
        return reply

    def _read(self, question: Question, reply: HttpReply) -> tuple[Parsed, Mapping[str, str]]:
        status, raw, headers = reply
        raw = self._secrets.scrub_bytes(raw)
        if status == 200:
            return parse(raw, headers, self._config, question), headers
        finish = judge_failure(read_failure(status, raw, headers), self._config)
        return Parsed(Reply(text="", finish=finish), Usage(requests=1), self._config.model), headers

    def _note(self, error: Retryable, sent_at: float) -> None:
        self._stats.retries += 1
        self._stats.last_error = self._secrets.scrub(error.reason)
        if (error.retry_after or 0.0) > self._limits.longest_retry_after:
            self._gate.wait_for_server(error.retry_after or 0.0, error.reason)
            raise ServerAwayError(self._stats.stopped) from None
        if isinstance(error, Malformed):
            self._malformed += 1
            self._by_another_model += isinstance(error, OtherModel)
            is_wrong = self._malformed >= _NEVER_UNDERSTOOD or self._by_another_model >= _BY_ANOTHER_MODEL
            if is_wrong and not self._stats.answered:
                raise self._not_understood(error) from None
        if isinstance(error, Throttled):
            self._stats.throttled += 1
            self._gate.throttled(sent_at, error.retry_after, self._stats.last_error)
        else:
            away = self._gate.failed(self._stats.last_error, error.retry_after)
            error.server_is_away = away and not math.isinf(self._limits.outage_seconds)

    def _answer(self, parsed: Parsed, seconds: float) -> Answer:
        scrub, reply = self._secrets.scrub, parsed.reply  # once more: JSON can spell a key in many ways
        text, reasoning = scrub(reply.text), scrub(reply.reasoning)
        if (text, reasoning) != (reply.text, reply.reasoning):
            reply = Reply(text=text, reasoning=reasoning, finish=reply.finish)
        return Answer(reply, parsed.usage, seconds, scrub(parsed.served_model))
