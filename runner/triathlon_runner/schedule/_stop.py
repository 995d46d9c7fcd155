"""Why a run starts nothing new (Ctrl-C, the budget, the deadline), and how requests are held back then."""

import asyncio
import contextlib
import math
import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.llm import EndpointStats
from triathlon_runner.models_yaml import Price
from triathlon_runner.terminal import money

STOP_SECONDS = 30.0
"""How long a stop waits for requests in flight and for programs."""
CTRL_C = "Ctrl-C"
"""The reason of a stop that a person asked for."""
CHECK_SECONDS = 0.25
"""Between two checks of the bounds while nothing is sent, and of what a stop still waits for."""
_UNITS = {"d": 86400, "h": 3600, "m": 60, "min": 60, "s": 1, "sec": 1}
_PART_OF_A_SPAN = r"(\d+(?:\.\d+)?)\s*(d|h|min|m|sec|s)\s*"


@dataclass(slots=True)
class Account:
    """What one model of this run has cost so far."""

    model: str
    stats: EndpointStats
    price: Price | None

    @property
    def usd(self) -> float:
        """For replies of the server, `usd_estimated` included; those of the cache were paid for before."""
        counted = self.price.usd(self.stats.input_tokens, self.stats.output_tokens) if self.price else 0.0
        return counted + self.usd_estimated

    @property
    def tokens(self) -> int:
        """Read and written, the estimated ones included."""
        stats = self.stats
        counted = stats.input_tokens + stats.output_tokens
        return counted + stats.estimated_input_tokens + stats.estimated_output_tokens

    @property
    def usd_estimated(self) -> float:
        """For replies whose tokens the server did not count, by the length of the texts."""
        stats = self.stats
        if self.price is None:
            return 0.0
        return self.price.usd(stats.estimated_input_tokens, stats.estimated_output_tokens)


class RunStoppedError(InfrastructureError):
    """A unit needs another request, but the run is stopping: the unit stays open."""


@dataclass(slots=True)
class Control:
    """Lets requests through until the run is to stop; all its models and the judge share it.

    Once it is to stop no request is sent and no unit begun; requests in flight and programs are finished.
    """

    budget_usd: float | None = None
    deadline: datetime | None = None
    stop_seconds: float = STOP_SECONDS
    """How long a stop waits for what is in flight."""
    accounts: list[Account] = field(default_factory=list)
    stopped: str = ""
    """Why the run is to stop; empty while it goes on."""
    on_stop: list[Callable[[], object]] = field(default_factory=list)
    """Called once, when it is to stop, to end waits for servers."""
    _ends: float = field(default=math.inf, init=False)
    """The deadline on the monotonic clock, which stays when the system's clock is changed."""
    _calls: set[asyncio.Timeout] = field(default_factory=set, init=False)
    """The calls of `ask` that have not got their answer."""
    _released: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        if self.deadline is not None:
            self._ends = time.monotonic() + (self.deadline - datetime.now(UTC)).total_seconds()

    def stop(self, reason: str) -> None:
        """Has the run stop; the first reason counts."""
        if not self.stopped:
            self.stopped = reason
            for call in self.on_stop:
                call()

    async def until_stopped(self, has_work: Callable[[], bool] = lambda: True) -> None:
        """Returns when the run is to stop; at its deadline only where there is something to ask."""
        stopping = asyncio.Event()
        self.on_stop.append(stopping.set)
        while not self.stopped and (not has_work() or self.may_send()):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await stopping.wait()

    @property
    def spent(self) -> float:
        """USD, the judge's part included."""
        return sum(account.usd for account in self.accounts)

    @property
    def in_flight(self) -> int:
        """Requests that were sent and whose replies are not read yet; they are stored as soon as they are."""
        return sum(account.stats.in_flight for account in self.accounts)

    def may_send(self) -> bool:
        """Whether one more request may be sent. The first that a bound does not allow stops the run."""
        if self.stopped:
            return False
        # By either clock: one may be set back, the other stops while the machine sleeps.
        if self.deadline and (time.monotonic() >= self._ends or datetime.now(UTC) >= self.deadline):
            local = self.deadline.astimezone()
            self.stop(f"the deadline is here: {local:%H:%M:%S} on {local.day} {local:%B %Y}, local time")
        elif self.budget_usd is not None:
            in_flight = sum(  # what the requests in flight will cost, if they are like those before
                account.usd / account.stats.answered * account.stats.in_flight
                for account in self.accounts
                if account.stats.answered
            )
            if self.spent + in_flight >= self.budget_usd:
                self.stop(
                    f"the budget of {money(self.budget_usd)} USD is used up ({money(self.spent)} USD spent,"
                    f" about {money(in_flight)} for requests in flight)"
                )
        return not self.stopped

    @contextlib.asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Context of one call of `ask`.

        Raises:
            RunStoppedError: the run stops, and this call has no request in flight. Raised only
                after all requests in flight are answered: else a unit with several would lose the others.
        """
        if self.stopped:
            await self._released.wait()
            raise RunStoppedError("the run was stopped")
        try:
            async with asyncio.timeout(None) as scope:
                self._calls.add(scope)
                try:
                    yield
                finally:
                    self._calls.remove(scope)
        except TimeoutError:
            if not scope.expired():
                raise
            raise RunStoppedError("the run was stopped") from None

    async def end_waits(self) -> None:
        """Ends the calls of `ask` that wait, whenever no request is in flight; goes on until cancelled."""
        while True:
            if not self.in_flight:
                self._released.set()
                for scope in self._calls:
                    if scope.when() is None:  # else it ends already, which may take a while
                        scope.reschedule(asyncio.get_running_loop().time())
            await asyncio.sleep(CHECK_SECONDS)


def seconds(option: str, text: str) -> float:
    """Returns the seconds of `90s`, `10m`, `1h30m` or `2d 12h`.

    Raises:
        UserError: no such text, or no time at all; names the option.
    """
    span = _span(text)
    if not span:
        raise UserError(f"expected {option} as 90s, 10m or 1h30m, got {text!r}")
    return span


def deadline(text: str) -> datetime:
    """Returns the moment that lies a span from now, such as `8h`.

    Raises:
        UserError: no such text, or a span beyond the year 9999.
    """
    try:
        return datetime.now(UTC) + timedelta(seconds=seconds("--deadline", text))
    except OverflowError:
        raise UserError(
            f"expected --deadline before the year 10000, got {text!r}; name a shorter one"
        ) from None


def _span(text: str) -> float | None:
    """Returns the seconds of a span of time; None where it is no such text."""
    parts = re.findall(_PART_OF_A_SPAN, text)
    has_a_unit_twice = len({_UNITS[unit] for _, unit in parts}) < len(parts)
    if has_a_unit_twice or not re.fullmatch(f"(?:{_PART_OF_A_SPAN})+", text.strip()):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
