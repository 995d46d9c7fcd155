"""How many requests a server may be sent at once, a second and a minute: by its row, and as learned.

Arithmetic only: the caller brings the clock.
"""

from collections import deque

_WINDOW, _FEW = 64, 4
"""Replies by which a setting is judged; fewer 429s than the second number say nothing."""
_TOO_MANY, _HEAVY = 0.25, 0.5
"""Share of 429s from which on a setting is lowered; from which on they are surely no accident."""
_FEW_ENOUGH = 0.05
"""Share of 429s up to which a setting is raised."""
_DOWN, _FIRST_STEP, _LARGEST_STEP = 0.7, 0.05, 0.5
"""Factor by which the requests at once are lowered; share by which a setting is raised, first and at most."""
_HORIZON = 60.0
"""Seconds over which answers are counted while the server refuses others: providers count by the minute."""
_SLOWEST = 0.1
"""Requests a second that are sent however much a server refuses."""
_LEAST_GAIN, _ROUNDS_AT_REST = 0.2, 20
"""Share of an increase by which the throughput must grow, else it is undone; rounds until the next one."""


class RateLimit:
    """Limits requests or tokens a minute: spread evenly, in bursts of at most a twentieth of `per_minute`."""

    def __init__(self, per_minute: int | None) -> None:
        """None: no limit."""
        self._burst = max(1.0, per_minute / 20) if per_minute else 0.0
        self._seconds_each = 60.0 / (per_minute - self._burst + 1) if per_minute else 0.0
        self._full_at = float("-inf")

    def wait(self, now: float) -> float:
        """Returns the seconds until something may be sent."""
        if not self._seconds_each:
            return 0.0
        return max(0.0, self._full_at - (self._burst - 1) * self._seconds_each - now)

    def spend(self, now: float, amount: float) -> None:
        """Counts what was sent; a negative amount gives back what was estimated too high, or never used."""
        if self._seconds_each:
            self._full_at = max(self._full_at, now) + amount * self._seconds_each


class LearnedLimit:
    """Requests at once (`value`) and a second that a server accepts.

    Without 429s the requests at once double while the throughput follows. Where a quarter of the replies are
    429s, both are lowered: the pace to what the server answered in the last minute. If that changes nothing,
    the 429s come by chance: the setting is restored, and their share is expected from then on.
    """

    def __init__(self, first: int, most: int) -> None:
        """Starts at `first`; equal values make the limit a fixed number until a 429 comes."""
        self.most = max(1, most)
        self._level = float(max(1, min(first, self.most)))
        self._pace: float | None = None
        self._next = self._changed_at = float("-inf")
        self._replies: deque[bool] = deque(maxlen=_WINDOW)
        """Of the replies to requests since the last change: whether each was a 429."""
        self._answers: deque[float] = deque()
        """When the answers of the last two minutes came."""
        self._first_sent = float("inf")
        self._expected = 0.0
        """Share of 429s that come by chance."""
        self._before: tuple[float, float, float | None] | None = None
        """Share of 429s, level and pace before the last lowering, until it is known whether that helped."""
        self._refusals_only = False
        self._step = _FIRST_STEP
        self._start_round(None)
        self._gained_from: tuple[float, float] | None = None
        """Level and throughput before the last increase, until it is known whether it helped."""
        self._doubts = self._resting = 0

    @property
    def value(self) -> int:
        """Requests that may be in flight."""
        return max(1, int(self._level))

    def wait(self, now: float) -> float:
        """Returns the seconds until the pace allows another request."""
        return 0.0 if self._pace is None else max(0.0, self._next - now)

    def sent(self, now: float) -> None:
        """Counts a request."""
        self._first_sent = min(self._first_sent, now)
        if self._round_began is None:
            self._start_round(now)
        if self._pace is not None:
            self._next = max(self._next + 1 / self._pace, now)

    def answered(self, sent_at: float, now: float, tokens: int, is_full: bool) -> None:
        """Counts an answer; `is_full`: all slots were in use."""
        self._answers.append(now)
        if self._refusals_only:  # the server takes requests again: as many as before it refused all
            self._refusals_only = False
            self._set(self._level, max(_SLOWEST, self._answered_a_second(now, 2 * _HORIZON)), now)
        if sent_at < self._changed_at:
            return
        self._replies.append(False)
        if self._pace is None and self._before is None:
            self._search(now, tokens, is_full)
        self._judge(now)

    @property
    def _is_heavy(self) -> bool:
        refused = sum(self._replies)
        return refused >= _FEW and refused >= _HEAVY * len(self._replies)

    def throttled(self, sent_at: float, now: float) -> bool:
        """Counts a 429; returns whether the server surely has too much to do, so that all should wait."""
        if sent_at < self._changed_at:
            return self._refusals_only
        self._replies.append(True)
        is_heavy = self._is_heavy
        self._judge(now)
        return is_heavy

    def _judge(self, now: float) -> None:
        """Changes the setting once enough replies came with this one."""
        count, is_heavy = len(self._replies), self._is_heavy
        share = sum(self._replies) / count
        is_whole = count >= _WINDOW
        if self._before is not None and not is_heavy:
            if not is_whole:
                return
            (before, level, pace), self._before = self._before, None
            if before < _HEAVY and share > before / 2:
                self._expected = max(self._expected, before, share)
                self._set(level, pace, now)
        elif is_heavy or (count >= _WINDOW / 2 and share >= max(_TOO_MANY, 2 * self._expected)):
            self._lower(share, now)
        elif is_whole and self._pace is not None and share <= max(_FEW_ENOUGH, 1.5 * self._expected):
            up = 1 + self._step
            self._step = min(_LARGEST_STEP, 2 * self._step)
            self._set(min(self.most, max(self._level + 1, self._level * up)), self._pace * up, now)

    def _lower(self, share: float, now: float) -> None:
        self._step = _FIRST_STEP
        level, pace = self._level, self._answered_a_second(now)
        # What is restored is the setting before the first lowering.
        before = self._before or (share, level, self._pace)
        if all(self._replies):
            self._refusals_only = True
            pace = pace if self._pace is None else min(pace, self._pace / 2)
        else:
            level = max(1.0, level * _DOWN)
        self._set(level, max(_SLOWEST, pace), now)
        self._before = before

    def _answered_a_second(self, now: float, horizon: float = _HORIZON) -> float:
        while self._answers and self._answers[0] < now - 2 * _HORIZON:
            self._answers.popleft()
        count = sum(1 for moment in self._answers if moment >= now - horizon)
        return count / max(min(horizon, now - self._first_sent), 0.01)

    def _set(self, level: float, pace: float | None, now: float) -> None:
        self._level, self._pace, self._changed_at, self._before = level, pace, now, None
        self._replies.clear()
        if pace is not None:
            self._next = max(now, min(self._next, now + 1 / pace))
        self._start_round(None)

    # Without 429s: rounds of as many answers as may be in flight

    def _start_round(self, now: float | None) -> None:
        self._round_began = now
        self._round_answers = self._round_tokens = self._round_full = 0

    def _search(self, now: float, tokens: int, is_full: bool) -> None:
        """Doubles the requests at once while the throughput follows."""
        self._round_answers += 1
        self._round_tokens += max(1, tokens)
        self._round_full += is_full
        if self._round_began is None or self._round_answers < self.value or now <= self._round_began:
            return
        rate = self._round_tokens / (now - self._round_began)
        was_used = self._round_full * 2 > self._round_answers
        self._start_round(now)
        if not was_used:
            return
        level, rate_before = self._gained_from or (self._level, 0.0)
        if rate < rate_before * (1 + _LEAST_GAIN * (self._level / level - 1)):
            self._doubts += 1
            if self._doubts == 2:
                self._level, self._gained_from, self._resting = level, None, _ROUNDS_AT_REST
            return
        self._gained_from, self._doubts = None, 0
        if self._resting:
            self._resting -= 1
        elif self._level < self.most:
            self._gained_from = (self._level, rate)
            self._level = min(float(self.most), 2 * self._level)
