"""The interface of a model to the disciplines, `await model.ask(prompt, sampling)`, and to a run that stops.

Then the errors between question and answer, by how they are handled. No HTTP here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol

from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.records import Reply, Usage

EMPTY_REPLIES_THAT_COUNT = 5
"""After this many empty replies in a row to one question the empty reply counts as the model's answer."""
ModelKind = Literal["instruct", "base"]
"""Instruct models are asked by `Chat`, base models by `Completion`."""


class EndpointError(InfrastructureError):
    """The endpoint gave no answer after all retries. The unit stays open."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation for `/v1/chat/completions` (instruct models)."""

    messages: tuple[Message, ...]
    turn: int = 0
    """Number that makes equal prompts of one unit separate questions (the loop asks the same again). Not
    sent; part of the cache's key at any temperature."""


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


@dataclass(slots=True, eq=False)
class Asking:
    """One call of `ask`."""

    in_flight: bool = False
    """A request was sent and its reply is not stored yet. False while the call waits in the queue, after a
    failed try, or for a server that is down."""


_current: ContextVar[Asking | None] = ContextVar("asking", default=None)


@contextmanager
def asking() -> Iterator[Asking]:
    """Context of one call of `ask`; what it yields says whether the call has a request in flight."""
    call = Asking()
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


@contextmanager
def request_in_flight() -> Iterator[None]:
    """Context of sending and reading; after a reply was read the call counts as in flight until it ends."""
    call = _current.get() or Asking()
    call.in_flight = True
    try:
        yield
    except BaseException:
        call.in_flight = False
        raise


class ModelUnavailableError(EndpointError):
    """No question to this model can succeed for now: the model stops, its units stay open.

    Bad key, no access, unknown model, quota used up, a setting that the provider refuses. Where the server
    only does not answer, the error is a `ServerUnreachableError`.
    """

    of_question = ""
    """The error of the question itself, where that and others before it in a row have stopped the model."""


class ServerUnreachableError(ModelUnavailableError):
    """The server could not be reached, or asked for a longer wait than is allowed; it may answer later.

    Nothing in the model's row need be changed: the run tries the model once more at its end.
    """


class UnexplainedError(EndpointError):
    """A 4xx reply that no rule explains: this question fails, others may not."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class CacheError(UserError):
    """The cache of replies cannot be opened or written."""


class Retryable(Exception):  # noqa: N818  an internal signal that never leaves this package
    """An attempt at a question failed; another one may succeed."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        """Seconds that the server asked us to wait."""
        self.server_is_down = False
        """Whether the server answers no request at all now; the try does not count against this question."""


class Throttled(Retryable):
    """429: the server wants fewer requests."""


class Unreachable(Retryable):
    """No connection, or it broke before the reply was whole."""

    was_connected = False
    """Whether a connection to the server was made, now or before: then something listens there."""


class LostReply(Unreachable):
    """The request was sent, but its reply did not come, or not whole: the server may charge for it."""


class NeverReachable(Unreachable):
    """No try can reach the server: no such host, a certificate that is not trusted, a proxy that refuses."""

    def __init__(self, reason: str, *, is_temporary: bool = False) -> None:
        super().__init__(reason)
        self.is_temporary = is_temporary
        """Whether it may be there later: this machine's network or name service is down."""


class Malformed(Retryable):
    """A reply that is no answer: not JSON, no choices, another model's name."""


class OtherModel(Malformed):
    """A reply in another model's name."""


class NullContent(Retryable):
    """A whole reply without any content; after several of them it is the model's answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(
            f"a reply without content ({EMPTY_REPLIES_THAT_COUNT} in a row count as the model's answer,"
            " where --attempts allows as many)"
        )
        self.answer = answer
        """The answer with the empty reply, for when it counts."""
