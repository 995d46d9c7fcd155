"""Limits a minute. Arithmetic only: the caller brings the clock."""


class Pace:
    """Spreads units evenly with bursts of a twentieth, so that no minute holds more than `per_minute`."""

    def __init__(self, per_minute: int | None) -> None:
        """None: no limit."""
        self._burst = max(1.0, per_minute / 20) if per_minute else 0.0
        self._seconds_each = 60.0 / (per_minute - self._burst + 1) if per_minute else 0.0
        self._full_at = float("-inf")

    def wait(self, now: float) -> float:
        """Seconds until something may be sent."""
        if not self._seconds_each:
            return 0.0
        return max(0.0, self._full_at - (self._burst - 1) * self._seconds_each - now)

    def spend(self, now: float, amount: float) -> None:
        """Counts what was sent; a negative amount gives back what was estimated too high."""
        if self._seconds_each:
            self._full_at = max(self._full_at, now) + amount * self._seconds_each
