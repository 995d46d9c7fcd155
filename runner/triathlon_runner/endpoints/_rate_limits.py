"""Finds from 429s how many requests at once and a second a server allows.

Arithmetic only: the caller brings the clock. Replies are counted in epochs, each with one setting. Where too
many of an epoch's requests met a 429 the setting is halved, and the next epoch shows what the 429s were:
their share fell, so they were caused by load; or it did not fall, so they are random, and the setting is
restored. What was learned is tested now and then by a slightly higher setting.
"""

import math
from dataclasses import dataclass

from triathlon_runner.endpoints._concurrency import ConcurrencyLimit

_FEW = 3
"""Fewer 429s than this in an epoch are ignored."""
_HEAVY = 0.5
"""A share of 429s from which on they are never taken as random."""
_EXPECTED = 9.0
"""An epoch is compared with the one before once an unchanged share would have given this many 429s."""
_LONGEST_TRIAL = 100
"""Replies after which an epoch is compared with the one before at the latest."""
_LONGEST_EPOCH = 256
"""Replies after which an epoch without a known limit ends."""
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


@dataclass(slots=True)
class _Epoch:
    """What happened to the requests that were sent with one setting."""

    began: float
    level: int
    pace: float | None
    sent: int = 0
    answered: int = 0
    throttled: int = 0
    latency: float = 0.0
    ended: float = 0.0
    held: bool = False
    """Whether any request had to wait because of the pace."""

    @property
    def replies(self) -> int:
        return self.answered + self.throttled

    @property
    def share(self) -> float:
        return self.throttled / self.replies if self.replies else 0.0

    @property
    def likely_share(self) -> float:
        """The share, corrected for the epoch having ended at a 429."""
        return max(0.0, self.throttled - 1.5) / self.replies if self.replies else 0.0

    @property
    def is_heavy(self) -> bool:
        return self.throttled >= _FEW and self.share >= _HEAVY


class LearnedLimit:
    """Concurrency and pace that a server accepts; random 429s, which any load meets, are ignored."""

    def __init__(self, level: ConcurrencyLimit) -> None:
        """Starts without a pace: until a 429 comes only `level` limits the requests."""
        self._level = level
        self._pace: float | None = None
        self._next = float("-inf")
        self._chance = 0.0
        self._before: _Epoch | None = None
        """The epoch before the last lowering, until it is known whether the lowering helped."""
        self._good: tuple[int, float | None] | None = None
        """A setting that the server is known to take; None until it was seen to refuse a higher one."""
        self._capacity: float | None = None
        """Answers a second that the server gave while it had too much to do."""
        self._is_probe = False
        self._rest, self._step = _PROBE, 0.05
        self._refusals_only = 0
        """Lowerings since the last answer."""
        self._cycle_began: float | None = None
        self._cycle_answered = 0
        self._epoch = _Epoch(0.0, level.value, None)

    @property
    def value(self) -> int:
        """Requests that may be in flight."""
        return self._level.value

    @property
    def most(self) -> int:
        """Requests that may be in flight at most, whatever is learned."""
        return self._level.most

    def wait(self, now: float) -> float:
        """Seconds until the pace allows another request."""
        if self._pace is None or self._next <= now:
            return 0.0
        self._epoch.held = True
        return self._next - now

    def sent(self, now: float) -> None:
        """Counts a request."""
        self._level.sent(now)
        if self._cycle_began is None:
            self._cycle_began = now
            self._epoch.began = now - 1e-6
        self._epoch.sent += 1
        if self._pace is not None:
            self._next = max(self._next, now - 1 / self._pace) + 1 / self._pace

    def answered(self, sent_at: float, now: float, tokens: int, saturated: bool) -> None:
        """Counts an answer."""
        self._cycle_answered += 1
        if self._refusals_only:
            self._resume(now)
        if sent_at <= self._epoch.began:
            return
        self._epoch.answered += 1
        self._epoch.latency += now - sent_at
        if self._good is None and self._before is None:  # the server was not seen to refuse too much
            self._level.answered(now, tokens, saturated)
            if self._level.value != self._epoch.level:
                self._begin(now)
                return
        self._evaluate(now)

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
        heavy = self._epoch.is_heavy
        self._evaluate(now)
        return heavy

    def _evaluate(self, now: float) -> None:
        if self._before is not None:
            self._compare(self._before, now)
        elif self._is_suspicious():
            if self._is_probe:
                self._end_probe(now)
            else:
                self._lower(now)
        elif self._is_probe and self._is_near_capacity() and not self._chance and self._epoch.throttled > 1:
            self._end_probe(now)
        elif self._is_probe:
            if self._has_passed(_PROBE, now):
                self._believe_probe(now)
        elif self._good is not None and self._has_passed(self._rest, now):
            self._raise(now)
        elif self._epoch.replies >= _LONGEST_EPOCH and self._good is None:
            self._chance = min(self._chance, 0.75 * self._chance + 0.25 * self._epoch.share)
            self._begin(now)

    def _has_passed(self, replies: int, now: float) -> bool:
        """Whether the epoch has had so many replies, or has lasted long with few."""
        epoch = self._epoch
        return epoch.replies >= replies or (
            epoch.replies >= _ENOUGH and now - epoch.began >= _SLOW_SECONDS * replies / _PROBE
        )

    def _is_suspicious(self) -> bool:
        """Whether there were more 429s than the known random share explains, and enough replies to say so."""
        if self._epoch.replies < _PROBE and self._epoch.throttled < 2 * _FEW and not self._epoch.is_heavy:
            return False
        by_chance = self._chance * self._epoch.replies
        return self._epoch.throttled > by_chance + 4 * math.sqrt(by_chance) + _FEW - 1

    def _compare(self, before: _Epoch, now: float) -> None:
        epoch = self._epoch
        if epoch.is_heavy:
            self._lower(now)
        elif before.share >= _HEAVY:
            if epoch.throttled >= _FEW:
                self._lower(now)
            elif epoch.replies >= 2 * _EXPECTED:
                self._believe_load(before, now)
        elif epoch.throttled >= _FEW and epoch.throttled * 3 > before.likely_share * epoch.replies:
            self._believe_chance(before, now)
        elif before.likely_share * epoch.replies >= _EXPECTED or epoch.replies >= _LONGEST_TRIAL:
            self._believe_load(before, now)

    def _lower(self, now: float) -> None:
        epoch = self._epoch
        epoch.ended = now
        rate = epoch.sent / max(now - epoch.began, 0.1)
        if self._pace is not None:
            rate = min(rate, self._pace) if epoch.sent >= _ENOUGH else self._pace
        self._before, self._is_probe = epoch, False
        self._set(max(1, self._level.value // 2), max(_SLOWEST, rate / 2), now)

    def _believe_chance(self, before: _Epoch, now: float) -> None:
        """The share did not fall with the setting: the 429s are random, and the setting is restored."""
        replies = before.replies + self._epoch.replies
        self._chance = (before.throttled + self._epoch.throttled) / replies
        self._before = None
        self._good = self._capacity = None
        self._set(before.level, None, now)

    def _believe_load(self, before: _Epoch, now: float) -> None:
        """The share fell: the answers a second before, under overload, are the server's capacity."""
        level, pace = self._level.value, self._pace
        seconds = before.ended - before.began
        if before.answered >= 4 and seconds >= 0.2 and pace is not None:
            rate = before.answered / seconds
            level = max(level, min(before.level, round(rate * before.latency / before.answered)))
            pace = max(pace, _BELOW * rate)
            self._capacity = rate
        self._before, self._good = None, (level, pace)
        self._rest, self._step = (_FIRST_REST if self._is_near_capacity() else _PROBE), 0.05
        self._set(level, pace, now)

    def _resume(self, now: float) -> None:
        """The first answer after a series of 429s: continue at the mean rate since the last such answer."""
        refused, self._refusals_only = self._refusals_only, 0
        if refused < 2 or self._cycle_began is None or self._pace is None:
            return
        answered, seconds = self._cycle_answered, now - self._cycle_began
        self._cycle_began, self._cycle_answered = now, 0
        self._capacity = answered / max(seconds, 0.1)
        pace = max(self._pace, _BELOW * self._capacity)
        self._before, self._good = None, (self._level.value, pace)
        self._rest, self._step = (_FIRST_REST if seconds > 10 else _PROBE), 0.05
        self._set(self._level.value, pace, now)

    def _raise(self, now: float) -> None:
        self._is_probe = True
        level = self._level.value + max(1, int(self._level.value * self._step))
        pace = None if self._pace is None else self._pace * (1 + self._step)
        if pace is not None and self._capacity is not None and not self._is_near_capacity():
            pace = min(pace, max(self._pace or 0.0, 0.97 * self._capacity))
        self._set(min(level, self._level.most), pace, now)

    def _is_near_capacity(self) -> bool:
        return self._capacity is not None and self._pace is not None and self._pace > 0.9 * self._capacity

    def _believe_probe(self, now: float) -> None:
        if not self._epoch.held:
            self._pace = None  # fewer were sent than it allows
        self._is_probe = False
        self._good = (self._level.value, self._pace)
        if self._is_near_capacity():
            self._rest, self._step = max(_FIRST_REST, self._rest), 0.05
        else:
            self._rest, self._step = _PROBE, min(0.5, 2 * self._step)
        if self._pace is None and self._level.value >= self._level.most:
            self._good = None
        self._begin(now)

    def _end_probe(self, now: float) -> None:
        assert self._good is not None
        self._is_probe = False
        self._capacity = self._good[1]
        self._rest = min(_LONGEST_REST, max(_FIRST_REST, 2 * self._rest))
        self._step = 0.05
        self._set(*self._good, now)

    def _set(self, level: int, pace: float | None, now: float) -> None:
        self._level.set(level)
        self._pace = pace
        if pace is not None:
            self._next = max(now, min(self._next, now + 1 / pace))
            if self._refusals_only:
                self._next = now + 1 / pace
        self._begin(now)

    def _begin(self, now: float) -> None:
        self._epoch = _Epoch(now, self._level.value, self._pace)
