"""How many requests a server may be sent at once, a second and a minute: by its row, and as learned.

Arithmetic only: the caller brings the clock.
"""

import math
from dataclasses import dataclass

_LEAST_GAIN = 0.2
"""Share of an increase of the limit by which the throughput must grow, or the increase is taken back."""
_ROUNDS_AT_REST = 20
"""Rounds without an increase after one was taken back."""
_FEW = 3
"""Fewer 429s than this with one setting are ignored."""
_HEAVY = 0.5
"""A share of 429s from which on they are never taken as random."""
_EXPECTED, _LONGEST_TRIAL = 9.0, 100
"""A lower setting is good once an unchanged share would have given so many 429s, or after so many replies."""
_LONGEST_EPOCH = 256
"""Replies after which they are counted anew where no limit is known."""
_PROBE = 32
"""Replies of a raised setting that must pass before it counts as good."""
_ENOUGH, _SLOW_SECONDS = 8, 10.0
"""At a low pace a probe passes after this many replies, once this many seconds are over."""
_FIRST_REST, _LONGEST_REST = 300, 1200
"""Replies between two tests of a higher setting, after one failed."""
_SLOWEST = 1 / 60
"""Requests a second that are sent however much a server refuses."""
_BELOW = 0.95
"""Share of the measured capacity that is used."""
_SMALL_STEP, _LARGEST_STEP = 0.05, 0.5
"""Share by which a setting is raised: near the capacity, and at most."""


class RateLimit:
    """Limits requests or tokens a minute: spread evenly, in bursts of at most a twentieth of `per_minute`."""

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


class ConcurrencyLimit:
    """A limit that starts low and doubles while throughput follows.

    Time is cut into rounds of `value` answers. A round that was run at the full limit is compared with the
    one before the last increase: if the throughput did not follow twice in a row, the increase is taken back
    and the limit rests there for some rounds. What a 429 means is decided by `LearnedLimit`.
    """

    def __init__(self, first: int, most: int) -> None:
        """Starts at `first`; equal values make the limit a fixed number."""
        self.most = max(1, most)
        self._doubts = self._resting = 0
        self.set(first)

    def set(self, value: int) -> None:
        """Sets the limit, for what the throughput does not show; the search goes on from there."""
        self.value = max(1, min(value, self.most))
        """Requests that may be in flight."""
        self._before: tuple[int, float] | None = None
        """Limit and throughput before the last increase, until it is known whether it helped."""
        self._start_round(None)

    def _start_round(self, now: float | None) -> None:
        self._round_began = now
        self._answers = self._work = self._saturated = 0

    def sent(self, now: float) -> None:
        """Counts a request: the first since `set` begins the first round."""
        if self._round_began is None:
            self._start_round(now)

    def answered(self, now: float, work: int, saturated: bool) -> None:
        """Counts an answer of `work` tokens to a request since `set`; `saturated`: all slots were in use."""
        self._answers += 1
        self._work += max(1, work)
        self._saturated += saturated
        if self._round_began is not None and self._answers >= self.value and now > self._round_began:
            if self._saturated * 2 > self._answers:
                self._end_round(self._work / (now - self._round_began))
            self._start_round(now)

    def _end_round(self, rate: float) -> None:
        value, rate_before = self._before or (self.value, 0.0)
        if rate < rate_before * (1 + _LEAST_GAIN * (self.value / value - 1)):
            self._doubts += 1
            if self._doubts == 2:
                self.value, self._before, self._resting = value, None, _ROUNDS_AT_REST
            return
        self._before, self._doubts = None, 0
        if self._resting:
            self._resting -= 1
        elif self.value < self.most:
            self._before = (self.value, rate)
            self.value = min(self.most, 2 * self.value)


@dataclass(slots=True)
class _Epoch:
    """What happened while requests were sent with one setting."""

    began: float
    level: int
    sent: int = 0
    answered: int = 0
    throttled: int = 0
    latency: float = 0.0
    """Seconds that all answers took together."""
    seconds: float = 0.0
    """How long it lasted, once it has ended with a lowering."""

    @property
    def replies(self) -> int:
        return self.answered + self.throttled

    @property
    def share(self) -> float:
        return self.throttled / self.replies if self.replies else 0.0

    @property
    def is_heavy(self) -> bool:
        return self.throttled >= _FEW and self.share >= _HEAVY

    def lasted(self, replies: int, now: float) -> bool:
        """Whether it has had so many replies, or has lasted long with few."""
        slow = _SLOW_SECONDS * replies / _PROBE
        return self.replies >= replies or (self.replies >= _ENOUGH and now - self.began >= slow)


class LearnedLimit:
    """Requests at once and a second that a server accepts; random 429s, which any load meets, are ignored.

    Where more replies are 429s than expected, the setting is halved. If their share does not fall then, they
    are random: the setting is restored, and the share is expected from then on. If it falls, nearly as many
    requests are sent as the server answered under overload. A higher setting is tested now and then.
    """

    def __init__(self, level: ConcurrencyLimit) -> None:
        """Starts without a pace: until a 429 comes only `level` limits the requests."""
        self.level = level
        self._pace: float | None = None
        """Requests a second; None where nothing is known against more."""
        self._next = -math.inf
        """When the pace allows another request."""
        self._random_share = 0.0
        """Share of the replies that are random 429s."""
        self._before: _Epoch | None = None
        """The epoch before the last lowering, until it is known whether the lowering helped."""
        self._accepted: tuple[int, float] | None = None
        """The setting to return to where a raised one is refused; None while no raised one is tested."""
        self._capacity = math.inf
        """Answers a second that the server gave while it had too much to do."""
        self._rest, self._step = _PROBE, _SMALL_STEP
        self._refusals_only = 0
        """Lowerings since the last answer."""
        self._cycle_began: float | None = None
        self._cycle_answered = 0
        """Start of, and answers in, the time that ends with the first answer after a series of 429s."""
        self._epoch = _Epoch(0.0, level.value)

    def wait(self, now: float) -> float:
        """Seconds until the pace allows another request."""
        return 0.0 if self._pace is None else max(0.0, self._next - now)

    def sent(self, now: float) -> None:
        """Counts a request."""
        self.level.sent(now)
        if self._cycle_began is None:
            self._cycle_began = now
            self._epoch.began = now - 1e-6
        self._epoch.sent += 1
        if self._pace is not None:
            self._next = max(self._next + 1 / self._pace, now)

    def answered(self, sent_at: float, now: float, tokens: int, is_full: bool) -> None:
        """Counts an answer; `is_full`: all slots were in use."""
        self._cycle_answered += 1
        if self._refusals_only:
            self._resume(now)
        if sent_at <= self._epoch.began:
            return
        self._epoch.answered += 1
        self._epoch.latency += now - sent_at
        if self._pace is None:
            self.level.answered(now, tokens, is_full)
        if self.level.value == self._epoch.level:
            self._evaluate(now)
        else:
            self._epoch = _Epoch(now, self.level.value)

    def throttled(self, sent_at: float, now: float) -> bool:
        """Counts a 429.

        Returns:
            Whether the server is surely overloaded, so that all requests should wait as long as it asks.
        """
        if sent_at <= self._epoch.began:
            return self._refusals_only > 0
        self._epoch.throttled += 1
        enough = 1 if self._refusals_only >= 2 else 2
        if self._before is not None and not self._epoch.answered and self._epoch.throttled >= enough:
            self._refusals_only += 1
            self._lower(now)
            return True
        is_heavy = self._epoch.is_heavy
        self._evaluate(now)
        return is_heavy

    def _evaluate(self, now: float) -> None:
        """Changes the setting once enough replies came with this one to say what their 429s were."""
        epoch = self._epoch
        if self._before is not None:
            self._compare(self._before, now)
        elif self._has_too_many():
            if self._accepted is None:
                self._lower(now)
            else:
                self._capacity = self._accepted[1]
                self._rest, self._step = min(_LONGEST_REST, max(_FIRST_REST, 2 * self._rest)), _SMALL_STEP
                self._set(*self._accepted, now)
        elif self._accepted is not None:
            if epoch.lasted(_PROBE, now):
                self._rest_at(self._pace or _SLOWEST, min(_LARGEST_STEP, 2 * self._step))
                self._set(self.level.value, self._pace, now)
        elif self._pace is not None:
            if epoch.lasted(self._rest, now):
                level, pace = self.level.value, self._pace
                self._set(level + max(1, int(level * self._step)), pace * (1 + self._step), now)
                self._accepted = (level, pace)
        elif epoch.replies >= _LONGEST_EPOCH:
            self._random_share = min(self._random_share, 0.75 * self._random_share + 0.25 * epoch.share)
            self._epoch = _Epoch(now, self.level.value)

    def _has_too_many(self) -> bool:
        """Whether there were more 429s than the known random share explains, and enough replies to say so."""
        epoch = self._epoch
        is_enough = epoch.replies >= _PROBE or epoch.throttled >= 2 * _FEW or epoch.is_heavy
        if self._accepted is None and not is_enough:
            return False
        expected = self._random_share * epoch.replies
        return epoch.throttled > expected + 4 * math.sqrt(expected) + _FEW - 1

    def _compare(self, before: _Epoch, now: float) -> None:
        """Decides what the 429s before the last lowering were, once enough replies came since."""
        epoch, level = self._epoch, self.level.value
        still_many = epoch.throttled >= _FEW
        if epoch.is_heavy or (still_many and before.share >= _HEAVY):
            self._lower(now)
        elif still_many and epoch.share * 3 > before.share:  # they are random
            replies = before.replies + epoch.replies
            self._random_share = (before.throttled + epoch.throttled) / replies
            self._capacity = math.inf
            self._set(before.level, None, now)
        elif before.share * epoch.replies >= _EXPECTED or epoch.replies >= _LONGEST_TRIAL:
            lowered = pace = self._pace or _SLOWEST
            if before.answered >= 4 and before.seconds >= 0.2:
                level = max(level, min(before.level, round(before.latency / before.seconds)))
                self._capacity = before.answered / before.seconds
                pace = max(lowered, _BELOW * self._capacity)
            self._rest_at(lowered, _SMALL_STEP)
            self._set(level, pace, now)

    def _rest_at(self, pace: float, step: float) -> None:
        """Decides when a higher setting is tested, and by how much: near the capacity late, and by little."""
        is_near = pace > 0.9 * self._capacity
        self._rest, self._step = (_FIRST_REST, _SMALL_STEP) if is_near else (_PROBE, step)

    def _lower(self, now: float) -> None:
        """Halves the setting, to see what becomes of the 429s."""
        epoch = self._epoch
        epoch.seconds = now - epoch.began
        rate = epoch.sent / max(epoch.seconds, 0.1)
        if self._pace is not None:
            rate = min(rate, self._pace) if epoch.sent >= _ENOUGH else self._pace
        self._set(self.level.value // 2, max(_SLOWEST, rate / 2), now)
        self._before = epoch

    def _resume(self, now: float) -> None:
        """The first answer after a series of 429s: continue at the mean rate since the last such answer."""
        refused, self._refusals_only = self._refusals_only, 0
        if refused < 2 or self._cycle_began is None or self._pace is None:
            return
        seconds = now - self._cycle_began
        self._capacity = self._cycle_answered / max(seconds, 0.1)
        pace = max(self._pace, _BELOW * self._capacity)
        self._cycle_began, self._cycle_answered = now, 0
        self._rest, self._step = (_FIRST_REST if seconds > 10 else _PROBE), _SMALL_STEP
        self._set(self.level.value, pace, now)

    def _set(self, level: int, pace: float | None, now: float) -> None:
        """Continues with a setting as one that the server takes; the caller may say that it is only tried."""
        self.level.set(level)
        self._pace, self._before, self._accepted, self._epoch = (
            pace,
            None,
            None,
            _Epoch(now, self.level.value),
        )
        if pace is not None:
            soon = now + 1 / pace
            self._next = soon if self._refusals_only else max(now, min(self._next, soon))
