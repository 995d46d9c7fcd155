"""What disciplines see of a model: `await model.ask(prompt, sampling)`, its errors and counters; no HTTP."""

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, Protocol

from triathlon_runner.errors import InfrastructureError
from triathlon_runner.records import Finish, Outcome, Reply, Usage

CHARACTERS_A_TOKEN = 3.5
"""Of prompts that are half prose, half code; tokenisers differ by a third in either direction."""
ModelKind = Literal["instruct", "base"]
"""Instruct models are asked by `Chat`, base models by `Completion`."""


def estimated_tokens(*texts: str) -> int:
    """Returns about how many tokens texts have together."""
    return math.ceil(sum(map(len, texts)) / CHARACTERS_A_TOKEN)


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation for `/v1/chat/completions` (instruct models)."""

    messages: tuple[Message, ...]
    turn: int = 0
    """Makes equal prompts of one unit separate questions (the loop asks the same again). Not sent; part of
    the cache's key at any temperature."""

    def with_merged_system(self) -> "Chat":
        """Returns the conversation with its system prompt before the user's first text."""
        system = [each.content for each in self.messages if each.role == "system"]
        others = [each for each in self.messages if each.role != "system"]
        if not system or not others:
            return self
        first = Message(others[0].role, "\n\n".join([*system, others[0].content]))
        return Chat((first, *others[1:]), self.turn)


@dataclass(frozen=True, slots=True)
class Completion:
    """A text to be completed, for `/v1/completions` (base models)."""

    text: str
    turn: int = 0
    """As in `Chat`."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Decoding settings of one question; a model row may override what its provider refuses."""

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What decides, beside its `api:` block, how a model is asked."""

    engine: str = ""
    """Describes a server that we started: it is up, and has `concurrency` slots. Its port is arbitrary, so
    the cache's keys hold this text and not the address."""
    context: int | None = None
    """Tokens that the model can read and write together, by its makers; a longer question is its outcome.
    0: its server's context is all that the model can do."""
    merges_system: bool = False
    """Whether a system prompt stands before the user's text."""
    max_tokens: int | None = None
    """The row's own limit of replies."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply with what it took."""

    reply: Reply
    usage: Usage
    seconds: float
    """Time from question to reply; of a cached reply, that of the original request."""
    served_model: str
    """The model's name as the server gives it."""
    from_earlier_run: bool = False
    """Whether the cache had it before the model was opened: its server did not give it now."""
    is_empty: bool = False
    """Whether the server sent a whole reply without any content."""
    is_passing: bool = False
    """Whether the next run asks again: an outcome that came as an error, or a reply that the context cut."""


class Model(Protocol):
    """One row of models.yaml, ready to be asked."""

    @property
    def id(self) -> str: ...

    @property
    def kind(self) -> ModelKind: ...

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once. `sample` numbers repeats of one question at temperature > 0.

        Raises:
            EndpointError: no answer after all retries; never a made-up reply.
        """
        ...


class EndpointError(InfrastructureError):
    """The endpoint gave no answer after all retries. The unit stays open."""


class ModelUnavailableError(EndpointError):
    """No question to this model can succeed for now: the model stops, its units stay open.

    Bad key, no access, unknown model, quota used up, a setting that the provider refuses.
    """

    of_question = ""
    """The error of the question itself, where that and others before it in a row have stopped the model."""


class ServerUnreachableError(ModelUnavailableError):
    """The server does not answer, or asked for a longer wait than is allowed; it may answer later.

    Nothing in the model's row need be changed: run again later.
    """


class UnexplainedError(EndpointError):
    """A 4xx reply that no rule explains: this question fails, others may not."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Retryable(Exception):  # noqa: N818  an internal signal that never leaves this package
    """A try of a question failed; another one may succeed."""

    wait: float | None = None
    """Seconds until the question is tried again; None: it is not."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        """`retry_after`: seconds that the server asked us to wait."""
        super().__init__(reason)
        self.reason, self.retry_after = reason, retry_after


class Throttled(Retryable):
    """429: the server wants fewer requests."""


class Unreachable(Retryable):
    """No connection: the request was not sent."""


class Lost(Retryable):
    """The request was sent and no whole reply came: the server may charge for it."""


class TimedOut(Lost):
    """No whole reply came in time."""


class Malformed(Lost):
    """A reply that is no answer: not JSON, no choices."""


class OtherModel(Malformed):
    """A reply in another model's name, `served`."""

    served = ""


@dataclass(slots=True)
class EndpointStats:
    """Counters of one model since it was opened; read at any time."""

    in_flight: int = 0
    limit: int = 0
    """Most requests that may be in flight now; it may have been lowered to fewer than are."""
    answered: int = 0
    """Replies of the server, cached ones not counted."""
    from_cache: int = 0
    """Questions that the cache answered, those included that waited for an equal one in flight."""
    retries: int = 0
    """Requests beside the first one of each question."""
    truncated: int = 0
    """Replies that were cut at the token limit."""
    cut_by_context: int = 0
    """Replies that were cut before the token limit, because question and reply filled the context."""
    too_long: int = 0
    """Questions that the server refused as longer than its context."""
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Replies for which the server gave no token counts; they are missing in the two numbers above."""
    lost: int = 0
    """Requests whose reply never came whole, or could not be read: the server may charge for them."""
    estimated_input_tokens: int = 0
    """Of the uncounted replies by the length of the texts, of the lost ones by the mean of the others."""
    estimated_output_tokens: int = 0
    busy_seconds: float = 0.0
    """Time in which at least one request was in flight that was answered later. Failed tries and the time
    before the server was up do not count."""
    last_error: str = ""
    retried_error: str = ""
    """The last error of a request that is tried again, while the server has not answered any since."""
    stopped: str = ""
    """Why the model was stopped; empty while it can be asked."""
    findings: list[str] = field(default_factory=list)
    """What the server's list and first replies show of how it behaves, each with the setting for it."""
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    """Outcomes of the questions, those that the cache answered included: empty replies by the outcome that
    they lead to, all others as passed."""
    _busy: list[tuple[float, float]] = field(default_factory=list, repr=False)
    """Spans that do not touch, in order."""

    def count_answer(self, answer: Answer, asked_tokens: int, *, is_cut_by_context: bool) -> int:
        """Adds a reply of the server that came just now; returns the tokens of question and reply.

        `asked_tokens` is an estimate, for a server that counts none.
        """
        usage, reply = answer.usage, answer.reply
        tokens = usage.input_tokens + usage.output_tokens
        self.answered += 1
        self.retried_error = ""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        if reply.finish is Finish.LENGTH:
            self.cut_by_context += is_cut_by_context
            self.truncated += not is_cut_by_context
        if usage.uncounted:
            self.uncounted += 1
            written = estimated_tokens(reply.text, reply.reasoning)
            self.estimated_input_tokens += asked_tokens
            self.estimated_output_tokens += written
            tokens = asked_tokens + written
        end = time.monotonic()
        begin = end - answer.seconds
        while self._busy and self._busy[-1][1] >= begin:  # none of the spans ended later
            earlier = self._busy.pop()
            self.busy_seconds -= earlier[1] - earlier[0]
            begin = min(begin, earlier[0])
        self._busy.append((begin, end))
        self.busy_seconds += end - begin
        return tokens

    def count_lost_reply(self, asked_tokens: int) -> None:
        """Adds what a lost reply probably took: the mean of the others, or its question where none came."""
        if replies := self.answered + self.lost:
            asked_tokens = (self.input_tokens + self.estimated_input_tokens) // replies
            self.estimated_output_tokens += (self.output_tokens + self.estimated_output_tokens) // replies
        self.estimated_input_tokens += asked_tokens
        self.lost += 1

    @property
    def tokens_per_second(self) -> float | None:
        """Output tokens a second while the server was answering; None until it has answered.

        Over all replies: a slow server's may come all at once, minutes after they were asked for.
        """
        return self.output_tokens / self.busy_seconds if self.busy_seconds else None
