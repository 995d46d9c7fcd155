"""ASL of some records, as a board shows it: between two ends where similarities are unknown."""

from collections.abc import Sequence
from dataclasses import dataclass

from triathlon_runner import loop
from triathlon_runner.records import LoopRecord


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends of a score."""

    low: float
    high: float


def asl(records: Sequence[LoopRecord]) -> Interval:
    """The metrics `asl_low` and `asl_high` over the records; nan where there are none."""
    low, high, *_ = loop.metrics(records[0].max_loops if records else loop.PAPER_LOOPS)
    return Interval(low.score(records), high.score(records))
