"""How sure a score is: a bootstrap over tasks, shared by all models of a suite."""

from triathlon_site.uncertainty._bootstrap import (
    DIGITS,
    DRAWS,
    STEP,
    Draws,
    Sample,
    draw,
    draw_ends,
    generator,
    rounded,
    task_weights,
)
from triathlon_site.uncertainty._interval import (
    LEVEL,
    Interval,
    central,
    interval,
    pass_fail_interval,
    share_interval,
)
from triathlon_site.uncertainty._paired import (
    Difference,
    Differences,
    differences,
    forget_weights,
    paired_difference,
    paired_p_values,
)

__all__ = [
    "DIGITS",
    "DRAWS",
    "LEVEL",
    "STEP",
    "Difference",
    "Differences",
    "Draws",
    "Interval",
    "Sample",
    "central",
    "differences",
    "draw",
    "draw_ends",
    "forget_weights",
    "generator",
    "interval",
    "paired_difference",
    "paired_p_values",
    "pass_fail_interval",
    "rounded",
    "share_interval",
    "task_weights",
]
