"""Trying again: named errors only, attempts and total time capped, waits with jitter."""

import asyncio
import random
import time

from triathlon_runner.endpoints._errors import NullContent, Retryable, Throttled
from triathlon_runner.endpoints._limits import Limits

_NULLS_BELIEVED = 3
"""So many replies without content in a row to one question are the model's own doing."""


class Budget:
    """What one question may cost."""

    __slots__ = ("_began", "_failed", "_limits", "_nulls", "_throttled")

    def __init__(self, limits: Limits) -> None:
        """Nothing is spent yet."""
        self._limits = limits
        self._began: float | None = None
        self._failed = self._throttled = self._nulls = 0

    def begin(self) -> None:
        """A try starts now; the first starts the clock, so that queueing takes nothing from the time."""
        if self._began is None:
            self._began = time.monotonic()

    async def after(self, error: Retryable) -> None:
        """Counts a failed try and waits until the next; after a 429 the gate makes everybody wait instead.

        Raises:
            Retryable: the error itself, where that try was the last.
        """
        if self._spends(error):
            raise error
        if not isinstance(error, Throttled):
            longest = min(self._limits.longest_wait, self._limits.first_wait * 2.0 ** (self._failed - 1))
            await asyncio.sleep(longest * random.uniform(0.5, 1.0))  # noqa: S311  no secret hangs on it

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
            or (self._began is not None and time.monotonic() - self._began >= self._limits.total_seconds)
        )
