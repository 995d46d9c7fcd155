"""Learns from 429s how many requests at once and a second a server allows.

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
_SMALL_STEP, _LARGEST_STEP = 0.05, 0.5
"""Share by which a setting is raised: near the capacity, and at most."""


@dataclass(slots=True)
class _Epoch:
    """What happened to the requests that were sent with one setting."""

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
    """Concurrency and pace that a server accepts; random 429s, which any load meets, are ignored."""

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
        """A setting that the server is known to take; None until it was seen to refuse a higher one."""
        self._capacity = math.inf
        """Answers a second that the server gave while it had too much to do."""
        self._is_probe = False
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
        if self._accepted is None and self._before is None:  # the server was not seen to refuse too much
            self.level.answered(now, tokens, is_full)
            if self.level.value != self._epoch.level:
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
        is_heavy = self._epoch.is_heavy
        self._evaluate(now)
        return is_heavy

    def _evaluate(self, now: float) -> None:
        epoch = self._epoch
        if self._before is not None:
            self._compare(self._before, now)
        elif self._is_suspicious() and self._accepted is not None and self._is_probe:
            self._end_probe(self._accepted, now)
        elif self._is_suspicious():
            self._lower(now)
        elif self._is_probe:
            if epoch.lasted(_PROBE, now):
                self._accept_probe(now)
        elif self._accepted is not None and epoch.lasted(self._rest, now):
            self._raise(now)
        elif self._accepted is None and epoch.replies >= _LONGEST_EPOCH:
            self._random_share = min(self._random_share, 0.75 * self._random_share + 0.25 * epoch.share)
            self._begin(now)

    def _is_suspicious(self) -> bool:
        """Whether there were more 429s than the known random share explains, and enough replies to say so."""
        epoch = self._epoch
        if epoch.replies < _PROBE and epoch.throttled < 2 * _FEW and not epoch.is_heavy:
            return False
        expected = self._random_share * epoch.replies
        return epoch.throttled > expected + 4 * math.sqrt(expected) + _FEW - 1

    def _compare(self, before: _Epoch, now: float) -> None:
        """Decides what the 429s before the last lowering were, once enough replies came since."""
        epoch = self._epoch
        still_many = epoch.throttled >= _FEW
        if epoch.is_heavy or (before.share >= _HEAVY and still_many):
            self._lower(now)
        elif before.share >= _HEAVY:
            if epoch.replies >= 2 * _EXPECTED:
                self._conclude_overload(before, now)
        elif still_many and epoch.throttled * 3 > before.share * epoch.replies:
            self._conclude_random(before, now)
        elif before.share * epoch.replies >= _EXPECTED or epoch.replies >= _LONGEST_TRIAL:
            self._conclude_overload(before, now)

    def _lower(self, now: float) -> None:
        """Halves the setting, to see what becomes of the 429s."""
        epoch = self._epoch
        self._before, epoch.seconds = epoch, now - epoch.began
        rate = epoch.sent / max(epoch.seconds, 0.1)
        if self._pace is not None:
            rate = min(rate, self._pace) if epoch.sent >= _ENOUGH else self._pace
        self._set(self.level.value // 2, max(_SLOWEST, rate / 2), now)

    def _conclude_random(self, before: _Epoch, now: float) -> None:
        """The share did not fall with the setting: the 429s are random, and the setting is restored."""
        self._random_share = (before.throttled + self._epoch.throttled) / (
            before.replies + self._epoch.replies
        )
        self._before = self._accepted = None
        self._capacity = math.inf
        self._set(before.level, None, now)

    def _conclude_overload(self, before: _Epoch, now: float) -> None:
        """The share fell: the answers a second before, under overload, are the server's capacity."""
        level, lowered, seconds = self.level.value, self._pace or _SLOWEST, before.seconds
        pace = lowered
        if before.answered >= 4 and seconds >= 0.2:
            self._capacity = before.answered / seconds
            level = max(level, min(before.level, round(before.latency / seconds)))
            pace = max(lowered, _BELOW * self._capacity)
        self._set_accepted(level, pace, now, is_near=lowered > 0.9 * self._capacity)

    def _resume(self, now: float) -> None:
        """The first answer after a series of 429s: continue at the mean rate since the last such answer."""
        refused, self._refusals_only = self._refusals_only, 0
        if refused < 2 or self._cycle_began is None or self._pace is None:
            return
        answered, seconds = self._cycle_answered, now - self._cycle_began
        self._cycle_began, self._cycle_answered = now, 0
        self._capacity = answered / max(seconds, 0.1)
        pace = max(self._pace, _BELOW * self._capacity)
        self._set_accepted(self.level.value, pace, now, is_near=seconds > 10)

    def _set_accepted(self, level: int, pace: float, now: float, *, is_near: bool) -> None:
        """Continues with a setting that the server takes; one near the most is raised later."""
        self._before, self._accepted = None, (level, pace)
        self._rest, self._step = (_FIRST_REST if is_near else _PROBE), _SMALL_STEP
        self._set(level, pace, now)

    def _raise(self, now: float) -> None:
        """Tests a slightly higher setting."""
        level = self.level.value + max(1, int(self.level.value * self._step))
        self._set(level, None if self._pace is None else self._pace * (1 + self._step), now)
        self._is_probe = True

    def _accept_probe(self, now: float) -> None:
        """The server takes the raised setting: the next step is larger, but near the known capacity."""
        assert self._pace is not None
        self._accepted = (self.level.value, self._pace)
        if self._pace > 0.9 * self._capacity:
            self._rest, self._step = max(_FIRST_REST, self._rest), _SMALL_STEP
        else:
            self._rest, self._step = _PROBE, min(_LARGEST_STEP, 2 * self._step)
        self._begin(now)

    def _end_probe(self, accepted: tuple[int, float], now: float) -> None:
        """The server refuses the raised setting: the one before is near its capacity."""
        self._capacity = accepted[1]
        self._rest, self._step = min(_LONGEST_REST, max(_FIRST_REST, 2 * self._rest)), _SMALL_STEP
        self._set(*accepted, now)

    def _set(self, level: int, pace: float | None, now: float) -> None:
        self.level.set(level)
        self._pace = pace
        if pace is not None and self._refusals_only:
            self._next = now + 1 / pace
        elif pace is not None:
            self._next = max(now, min(self._next, now + 1 / pace))
        self._begin(now)

    def _begin(self, now: float) -> None:
        self._epoch, self._is_probe = _Epoch(now, self.level.value), False
