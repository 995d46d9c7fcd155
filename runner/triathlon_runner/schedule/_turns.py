"""The works of one model that have something open, and in which order their units are run."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule._plan import Work
from triathlon_runner.store import ResultsFile, Unit


@dataclass(slots=True)
class OpenWork:
    """One work with its results file and what is left of it."""

    work: Work
    file: ResultsFile[UnitRecord]
    left: deque[Unit]
    failures: Counter[str] = field(default_factory=Counter)


def alternate(opened: Sequence[OpenWork]) -> Iterator[tuple[OpenWork, Unit]]:
    """One unit of each suite in turn, so that no suite waits for another."""
    waiting = deque(one for one in opened if one.left)
    while waiting:
        one = waiting.popleft()
        unit = one.left.popleft()
        if one.left:
            waiting.append(one)
        yield one, unit
