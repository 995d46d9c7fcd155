"""The loop discipline (EVALOOOP): generate, execute, summarise, and again from the model's own words."""

from triathlon_runner.loop._catalogue import VARIANTS, Variant, catalogue
from triathlon_runner.loop._metrics import (
    Interval,
    asl,
    asl_of_counts,
    degradation,
    mean_similarity,
    metrics,
    similarity_means,
    sustained_counts,
)
from triathlon_runner.loop._sensitivity import Sensitivity, Shifts, changes, rank_shifts, ranks, sensitivity
from triathlon_runner.loop._setting import PAPER_LOOPS, Setting
from triathlon_runner.loop._suite import LoopSuite

__all__ = [
    "PAPER_LOOPS",
    "VARIANTS",
    "Interval",
    "LoopSuite",
    "Sensitivity",
    "Setting",
    "Shifts",
    "Variant",
    "asl",
    "asl_of_counts",
    "catalogue",
    "changes",
    "degradation",
    "mean_similarity",
    "metrics",
    "rank_shifts",
    "ranks",
    "sensitivity",
    "similarity_means",
    "sustained_counts",
]
