"""The loop discipline (EVALOOOP): generate, execute, summarise, and again from the model's own words."""

from triathlon_runner.loop._catalogue import DISCIPLINE, VARIANTS, Variant, catalogue
from triathlon_runner.loop._metrics import asl_of_counts, metrics
from triathlon_runner.loop._setting import PAPER_LOOPS, Setting, question
from triathlon_runner.loop._suite import LoopSuite
from triathlon_runner.loop._variants import (
    COMPARED,
    ByModel,
    Comparison,
    Sensitivity,
    compare,
    ranks,
    scores_before_and_after,
    sensitivity,
)

__all__ = [
    "COMPARED",
    "DISCIPLINE",
    "PAPER_LOOPS",
    "VARIANTS",
    "ByModel",
    "Comparison",
    "LoopSuite",
    "Sensitivity",
    "Setting",
    "Variant",
    "asl_of_counts",
    "catalogue",
    "compare",
    "metrics",
    "question",
    "ranks",
    "scores_before_and_after",
    "sensitivity",
]
