"""Trying again: named errors only, attempts and total time capped, waits with jitter."""

import asyncio
import random

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from triathlon_runner.endpoints._errors import NullContent, Retryable, Throttled
from triathlon_runner.endpoints._limits import Limits

_NULLS_BELIEVED = 3
"""So many replies without content in a row to one question are the model's own doing."""


class Budget:
    """What one question may cost; tenacity asks it after each failed try."""

    def __init__(self, limits: Limits) -> None:
        """Nothing is spent yet."""
        self._limits = limits
        self._failed = self._throttled = self._nulls = 0

    def attempts(self) -> AsyncRetrying:
        """Iterate over it and put each try into `with attempt:`; the last error comes out as it is."""
        return AsyncRetrying(
            sleep=asyncio.sleep,
            retry=retry_if_exception_type(Retryable),
            stop=self._is_spent,
            wait=self._wait,
            reraise=True,
        )

    @property
    def believes_null(self) -> bool:
        """Whether the last replies were without content so often that the model means it."""
        return self._nulls >= _NULLS_BELIEVED

    def _is_spent(self, state: RetryCallState) -> bool:
        """Whether the try that just failed was the last."""
        error = _error(state)
        if isinstance(error, Throttled):
            self._throttled += 1
        else:
            self._failed += 1
        self._nulls = self._nulls + 1 if isinstance(error, NullContent) else 0
        return (
            self._failed >= self._limits.attempts
            or self._throttled >= self._limits.throttled_attempts
            or self.believes_null
            or (state.seconds_since_start or 0.0) >= self._limits.total_seconds
        )

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next try; after a 429 the gate makes everybody wait instead."""
        if isinstance(_error(state), Throttled):
            return 0.0
        longest = min(self._limits.longest_wait, self._limits.first_wait * 2.0 ** (self._failed - 1))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311  no secret hangs on it


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
