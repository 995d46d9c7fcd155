"""ASL of some records, as a board shows it: between two ends where similarities are unknown."""

from collections.abc import Sequence

from triathlon_runner import loop
from triathlon_runner.records import LoopRecord


def asl(records: Sequence[LoopRecord]) -> tuple[float, float]:
    """The metrics `asl_low` and `asl_high` over the records; nan where there are none."""
    low, high, *_ = loop.metrics(records[0].max_loops if records else loop.PAPER_LOOPS)
    return low.score(records), high.score(records)
