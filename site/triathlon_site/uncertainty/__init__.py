"""How sure a score is: a bootstrap over tasks, shared by all models of a suite."""

from triathlon_site.uncertainty._bootstrap import (
    DIGITS,
    DRAWS,
    LEVEL,
    Draws,
    Sample,
    central,
    draw,
    generator,
    rounded,
    task_weights,
)
from triathlon_site.uncertainty._interval import (
    STEP,
    Interval,
    draw_ends,
    interval,
    score_intervals,
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
