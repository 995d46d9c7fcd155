"""The interval of a share of passed tasks holds the true share as often as it promises."""

import numpy as np
import pytest
from scipy.stats import binom

from triathlon_site.uncertainty import share_interval


@pytest.mark.parametrize("tasks", [40, 80, 100, 164, 378])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_a_share_is_held(tasks: int, share: float) -> None:
    """Summed over every count that can come, with its probability; never much wider than it says, either."""
    counts = np.arange(tasks + 1)
    spans = [share_interval(float(count), tasks) for count in counts]
    held = np.array([span.low <= share <= span.high for span in spans])
    assert 0.93 <= binom.pmf(counts, tasks, share)[held].sum() <= 0.99
