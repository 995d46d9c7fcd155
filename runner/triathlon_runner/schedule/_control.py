"""Lets requests of a run through until the run is stopped."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from triathlon_runner.endpoints import Asking, asking
from triathlon_runner.errors import InfrastructureError
from triathlon_runner.schedule._stop import Bounds, Stop

_STOPPED = "the run was stopped"


class RunStoppedError(InfrastructureError):
    """A unit needs another request, but the run is stopping: the unit stays open."""


class Control:
    """Shared by all models of one run, the judge included."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        """`bounds`: money and time that the run may take."""
        self.bounds = bounds or Bounds()
        self.stop = Stop()
        self._calls: dict[Asking, asyncio.Timeout] = {}
        self._released = asyncio.Event()

    @property
    def in_flight(self) -> int:
        """Requests that were sent and whose replies are not stored yet."""
        return sum(call.in_flight for call in self._calls)

    @property
    def waiting(self) -> int:
        """Calls of `ask` that have not got their answer, those with a request in flight included."""
        return len(self._calls)

    def may_send(self) -> bool:
        """Whether one more request may be sent. The first that a bound does not allow stops the run."""
        if not self.stop.asked and (why := self.bounds.reached()):
            self.stop.ask(why)
        return not self.stop.asked

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Context of one call of `ask`.

        Raises:
            RunStoppedError: the run stops, and this call has no request in flight. Raised only
                after all requests in flight are answered: else a unit with several would lose the others.
        """
        if self.stop.asked:
            await self._released.wait()
            raise RunStoppedError(_STOPPED)
        with asking() as call:
            try:
                async with asyncio.timeout(None) as scope:
                    self._calls[call] = scope
                    try:
                        yield
                    finally:
                        del self._calls[call]
            except TimeoutError:
                if not scope.expired():
                    raise
                raise RunStoppedError(_STOPPED) from None

    def release(self) -> None:
        """Ends the calls of `ask` that wait in the queue."""
        self._released.set()
        now = asyncio.get_running_loop().time()
        for call, scope in self._calls.items():
            if not call.in_flight:
                scope.reschedule(now)
