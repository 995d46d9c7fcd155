"""How sure a score is: a bootstrap over tasks, shared by all models of a suite."""

from triathlon_site.uncertainty._bootstrap import (
    DIGITS,
    DRAWS,
    ENDS,
    LEVEL,
    Draws,
    Interval,
    Sample,
    Z,
    central,
    draw,
    generator,
    mean_scores,
    ratio_interval,
    rounded,
    score_intervals,
    share_interval,
    task_weights,
)
from triathlon_site.uncertainty._paired import (
    Difference,
    Differences,
    differences,
    forget_weights,
    independent_difference,
    paired_difference,
    paired_p_values,
)
