"""Finding how many requests at once a server can take. Arithmetic only: the caller brings the clock."""

_GROWS_WITH_IT = 0.2
"""Share of an increase of the limit that must show in the throughput for the server to be keeping up."""
_ROUNDS_AT_REST = 20


class ConcurrencyLimit:
    """A limit that starts low and doubles while throughput follows.

    Time is cut into rounds of `value` answers. A round that was run at the full limit is compared with the
    one before the last increase: if the throughput did not follow twice in a row, the increase is taken back
    and the limit rests there for some rounds. What a 429 means is decided elsewhere (`LoadLimit`).
    """

    def __init__(self, first: int, most: int) -> None:
        """Starts at `first`; equal values make the limit a fixed number."""
        self.most = max(1, most)
        self._value = float(max(1, min(first, most)))
        self._fixed = first >= most
        self._doubling = True
        self._resting = 0
        self._before: tuple[float, float] | None = None
        self._doubts = 0
        self._was_used = False
        self._start_round(None)

    @property
    def value(self) -> int:
        """Requests that may be in flight."""
        return int(self._value)

    def sent(self, now: float) -> None:
        """Counts a request: the first begins the first round, whose answers all come from these."""
        if not self._was_used:
            self._was_used = True
            self._start_round(now)

    def set(self, value: int) -> None:
        """Sets the limit, for what the throughput does not show; the search goes on from there."""
        self._value = float(max(1, min(value, self.most)))
        self._before = None
        self._doubts = self._resting = 0
        self._start_round(None)

    def answered(self, now: float, work: int, saturated: bool) -> None:
        """Counts an answer of so much work (tokens); `saturated`: the limit was what held others back."""
        if self._round_began is None:
            self._start_round(now)
            return
        self._answers += 1
        self._work += max(1, work)
        self._saturated += saturated
        if self._answers >= self.value and now > self._round_began:
            if self._saturated * 2 > self._answers:
                self._end_round(self._work / (now - self._round_began))
            self._start_round(now)

    def _start_round(self, now: float | None) -> None:
        self._round_began = now
        self._answers = self._work = self._saturated = 0

    def _end_round(self, rate: float) -> None:
        if self._before is not None and not self._fixed and not self._followed(rate, *self._before):
            return
        if self._resting > 0:
            self._resting -= 1
        elif self._value < self.most:
            self._before = (self._value, rate)
            step = self._value if self._doubling else max(1.0, self._value / 16)
            self._value = min(float(self.most), self._value + step)

    def _followed(self, rate: float, value: float, rate_before: float) -> bool:
        wanted = rate_before * (1 + _GROWS_WITH_IT * (self._value / value - 1))
        if rate >= wanted:
            self._doubts = 0
            self._before = None
            return True
        self._doubts += 1
        if self._doubts >= 2:
            self._doubts = 0
            self._before = None
            self._value = value
            self._doubling = False
            self._resting = _ROUNDS_AT_REST
        return False
