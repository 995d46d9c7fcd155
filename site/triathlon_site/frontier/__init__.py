"""Which models no other beats on score and cost, and in how many draws."""

from triathlon_site.frontier._frontier import (
    DOUBT,
    DRAWS,
    frontier_shares,
    interval_draws,
    not_told_apart,
    undominated,
)

__all__ = ["DOUBT", "DRAWS", "frontier_shares", "interval_draws", "not_told_apart", "undominated"]
