"""The interface of a model to the disciplines, `await model.ask(prompt, sampling)`, and to a run that stops.

No HTTP here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol

from triathlon_runner.errors import InfrastructureError
from triathlon_runner.records import Reply, Usage

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
