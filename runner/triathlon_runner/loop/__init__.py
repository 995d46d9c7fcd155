"""The loop discipline (EVALOOOP): generate, execute, summarise, and again from the model's own words."""

from triathlon_runner.loop._catalogue import DISCIPLINE, VARIANTS, Variant, catalogue
from triathlon_runner.loop._metrics import asl_of_counts, metrics
from triathlon_runner.loop._sensitivity import Sensitivity, ranks, sensitivity
from triathlon_runner.loop._setting import PAPER_LOOPS, Setting
from triathlon_runner.loop._suite import LoopSuite
from triathlon_runner.loop._variants import COMPARED, ByModel, Change, Comparison, changes_of, compare

__all__ = [
    "COMPARED",
    "DISCIPLINE",
    "PAPER_LOOPS",
    "VARIANTS",
    "ByModel",
    "Change",
    "Comparison",
    "LoopSuite",
    "Sensitivity",
    "Setting",
    "Variant",
    "asl_of_counts",
    "catalogue",
    "changes_of",
    "compare",
    "metrics",
    "ranks",
    "sensitivity",
]
