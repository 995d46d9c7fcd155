"""How sure a score is: a bootstrap over tasks, shared by all models of a suite."""

from triathlon_site.uncertainty._bootstrap import (
    DRAWS,
    Draws,
    Sample,
    draw,
    generator,
    task_weights,
)
from triathlon_site.uncertainty._interval import LEVEL, Interval, central, interval
from triathlon_site.uncertainty._paired import (
    Difference,
    forget_weights,
    mean_differences,
    paired_difference,
    paired_p_values,
)

__all__ = [
    "DRAWS",
    "LEVEL",
    "Difference",
    "Draws",
    "Interval",
    "Sample",
    "central",
    "draw",
    "forget_weights",
    "generator",
    "interval",
    "mean_differences",
    "paired_difference",
    "paired_p_values",
    "task_weights",
]
