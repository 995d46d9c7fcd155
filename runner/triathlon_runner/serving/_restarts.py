"""How often a server may be started again."""

import time
from collections import deque

from triathlon_runner.serving._errors import ServerLostError

_WINDOW_SECONDS = 3600.0


class Restarts:
    """So many within any hour: a server that keeps dying is given up."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._at: deque[float] = deque()

    def spend(self, model: str, why: str) -> None:
        """Counts one more.

        Raises:
            ServerLostError: there were too many.
        """
        now = time.monotonic()
        while self._at and now - self._at[0] > _WINDOW_SECONDS:
            self._at.popleft()
        if len(self._at) >= self._most:
            raise ServerLostError(
                f"the server of {model!r} failed again after {len(self._at)} restarts within an hour ({why})"
            )
        self._at.append(now)
