"""Trying again: named errors only, attempts and total time capped, waits with jitter."""

import asyncio
import random

from triathlon_runner.endpoints._errors import NullContent, Retryable, Throttled
from triathlon_runner.endpoints._limits import Limits

_NULLS_BELIEVED = 5
"""So many replies without content in a row to one question are the model's own doing."""


class Budget:
    """What one question may cost."""

    __slots__ = ("_away", "_began", "_failed", "_limits", "_loop", "_nulls", "_throttled")

    def __init__(self, limits: Limits) -> None:
        """Nothing is spent yet."""
        self._limits = limits
        self._began: float | None = None
        self._loop = asyncio.get_running_loop()
        self._failed = self._throttled = self._nulls = 0
        self._away = False

    def begin(self) -> None:
        """A try starts now; the first starts the clock, so that queueing takes nothing from the time."""
        if self._began is None:
            self._began = self._loop.time()

    async def after(self, error: Retryable, longest_wait: float) -> None:
        """Counts a failed try and waits until the next, at least for as long as the server asks.

        `longest_wait`: of the back-off, in seconds. A try that found a server which
        answers nobody is not counted: the gate makes all wait.

        Raises:
            Retryable: the error itself, where that try was the last.
        """
        if error.server_is_away:
            self._away = True
            return
        if self._spends(error):
            raise error
        tries = self._throttled if isinstance(error, Throttled) else self._failed
        longest = min(longest_wait, self._limits.first_wait * 2.0 ** min(tries - 1, 30))
        wait = max(longest * random.uniform(0.5, 1.0), error.retry_after or 0.0)  # noqa: S311  no secret
        await asyncio.sleep(wait)

    @property
    def believes_null(self) -> bool:
        """Whether the last replies were without content so often that the model means it."""
        return self._nulls >= _NULLS_BELIEVED

    def _spends(self, error: Retryable) -> bool:
        """Counts the failed try; whether nothing is left for another."""
        if isinstance(error, Throttled):
            self._throttled += 1
        else:
            self._failed += 1
        self._nulls = self._nulls + 1 if isinstance(error, NullContent) else 0
        return (
            self._failed >= self._limits.attempts
            or self._throttled >= self._limits.throttled_attempts
            or self.believes_null
            or self._is_late()
        )

    def _is_late(self) -> bool:
        """Whether its time is up; where the server was away meanwhile, that much longer is allowed."""
        allowed = self._limits.total_seconds + (self._limits.outage_seconds if self._away else 0.0)
        return self._began is not None and self._loop.time() - self._began >= allowed
