"""The search for the number of requests at once beyond which a server is not faster."""

_LEAST_GAIN = 0.2
"""Share of an increase of the limit by which the throughput must grow, or the increase is taken back."""
_ROUNDS_AT_REST = 20
"""Rounds without an increase after one was taken back."""


class ConcurrencyLimit:
    """A limit that starts low and doubles while throughput follows.

    Time is cut into rounds of `value` answers. A round that was run at the full limit is compared with the
    one before the last increase: if the throughput did not follow twice in a row, the increase is taken back
    and the limit rests there for some rounds. What a 429 means is decided elsewhere (`LearnedLimit`).
    """

    def __init__(self, first: int, most: int) -> None:
        """Starts at `first`; equal values make the limit a fixed number."""
        self.most = max(1, most)
        self.value = max(1, min(first, most))
        """Requests that may be in flight."""
        self._doubling = True
        self._resting = self._doubts = 0
        self._before: tuple[int, float] | None = None
        """Limit and throughput before the last increase, until it is known whether it helped."""
        self._start_round(None)

    def sent(self, now: float) -> None:
        """Counts a request: the first since `set` begins the first round."""
        if self._round_began is None:
            self._start_round(now)

    def set(self, value: int) -> None:
        """Sets the limit, for what the throughput does not show; the search goes on from there."""
        self.value = max(1, min(value, self.most))
        self._before = None
        self._doubts = self._resting = 0
        self._start_round(None)

    def answered(self, now: float, work: int, saturated: bool) -> None:
        """Counts an answer of `work` tokens to a request since `set`; `saturated`: all slots were in use."""
        self._answers += 1
        self._work += max(1, work)
        self._saturated += saturated
        if self._round_began is not None and self._answers >= self.value and now > self._round_began:
            if self._saturated * 2 > self._answers:
                self._end_round(self._work / (now - self._round_began))
            self._start_round(now)

    def _start_round(self, now: float | None) -> None:
        self._round_began = now
        self._answers = self._work = self._saturated = 0

    def _end_round(self, rate: float) -> None:
        if self._before is not None:
            value, rate_before = self._before
            if rate < rate_before * (1 + _LEAST_GAIN * (self.value / value - 1)):
                self._doubt(value)
                return
            self._before, self._doubts = None, 0
        if self._resting:
            self._resting -= 1
        elif self.value < self.most:
            self._before = (self.value, rate)
            step = self.value if self._doubling else max(1, self.value // 16)
            self.value = min(self.most, self.value + step)

    def _doubt(self, value_before: int) -> None:
        """Takes an increase back once it was seen twice not to help."""
        self._doubts += 1
        if self._doubts >= 2:
            self.value, self._before = value_before, None
            self._doubling, self._resting, self._doubts = False, _ROUNDS_AT_REST, 0
