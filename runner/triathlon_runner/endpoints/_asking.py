"""Whether a call of `ask` has a request on its way: a run that stops waits for these, and gives up others."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Asking:
    """One call of `ask`."""

    in_flight: bool = False
    """A request was sent, and its reply has not come or is being kept. False while it waits for its turn,
    after a failed try, or for a server to come back."""


_current: ContextVar[Asking | None] = ContextVar("asking", default=None)


@contextmanager
def asking() -> Iterator[Asking]:
    """Around a call of `ask`: what is yielded says how far that call is."""
    one = Asking()
    token = _current.set(one)
    try:
        yield one
    finally:
        _current.reset(token)


@contextmanager
def request_in_flight() -> Iterator[None]:
    """Around sending and reading; after a reply was read the call still counts as in flight."""
    one = _current.get() or Asking()
    one.in_flight = True
    try:
        yield
    except BaseException:
        one.in_flight = False
        raise
