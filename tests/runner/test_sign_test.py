"""The exact sign test."""

import pytest
from scipy.stats import binomtest

from triathlon_runner.sign_test import sign_test


def test_it_is_the_exact_two_sided_binomial_test() -> None:
    """scipy's, for every pair of counts; 1 where nothing differs."""
    assert sign_test(0, 0) == 1.0
    for one in range(25):
        for other in range(1, 25):
            expected = float(binomtest(one, one + other, 0.5).pvalue)
            assert sign_test(one, other) == pytest.approx(expected, abs=1e-12)
