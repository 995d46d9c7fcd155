"""Ranks with ties, rank intervals, tiers, and the order over all disciplines."""

from triathlon_site.ranking._overall import percentiles, wins_by_weighting
from triathlon_site.ranking._ranks import (
    DrawnRanks,
    Places,
    Rank,
    RankShift,
    better_in_draws,
    drawn_ranks,
    rank_draws,
    rank_shifts,
    ranks,
    ranks_among,
    smallest_ranks,
)
from triathlon_site.ranking._tiers import SIGNIFICANCE, tiers

__all__ = [
    "SIGNIFICANCE",
    "DrawnRanks",
    "Places",
    "Rank",
    "RankShift",
    "better_in_draws",
    "drawn_ranks",
    "percentiles",
    "rank_draws",
    "rank_shifts",
    "ranks",
    "ranks_among",
    "smallest_ranks",
    "tiers",
    "wins_by_weighting",
]
