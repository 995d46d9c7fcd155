"""Rank correlations."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from triathlon_site.agreement import correlate, correlations, drawn, kendall, matrix, spearman

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=6, max_size=25)


@settings(deadline=None)
@given(PAIRS)
def test_coefficients_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    """Spearman with midranks and Kendall's tau-b."""
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    found = correlate(x, y)
    assert found.spearman == pytest.approx(spearmanr(x, y).statistic)
    assert found.kendall == pytest.approx(kendalltau(x, y).statistic)


@pytest.mark.parametrize("n", [12, 400])
def test_resampled_coefficients_are_those_of_scipy(n: int) -> None:
    """Each draw is the coefficient of the resampled models, repeated ones tied with themselves."""
    values = np.random.default_rng(4).integers(50, size=(3, n)).astype(float)
    pairs = np.array([0, 0, 1]), np.array([1, 2, 2])
    counts = drawn(n, "some")[:10]
    rhos, taus = spearman(values, pairs, counts), kendall(values, pairs, counts)
    for row, rho, tau in zip(counts, rhos, taus, strict=True):
        models = np.repeat(np.arange(n), row.astype(int))
        for place, (left, right) in enumerate(zip(*pairs, strict=True)):
            x, y = values[left, models], values[right, models]
            assert rho[place] == pytest.approx(spearmanr(x, y).statistic)
            assert tau[place] == pytest.approx(kendalltau(x, y).statistic)


def test_a_resample_holds_as_many_models_as_there_are() -> None:
    """Drawn with replacement: the counts of each resample add up to all."""
    counts = drawn(7, "some")
    assert (counts.sum(axis=1) == 7).all() and counts.max() > 1


def test_pairs_that_are_correlated_together_are_as_each_alone() -> None:
    """Whatever the others are, a pair has its own models, and the resamples of as many."""
    random = np.random.default_rng(6)
    columns = [np.where(random.random(30) < 0.8, random.random(30), np.nan) for _ in range(4)]
    found = correlations(columns, "some")
    assert list(found) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for (left, right), correlation in found.items():
        assert correlation == correlate(columns[left], columns[right], "some")


@given(st.permutations(range(15)))
def test_a_coefficient_has_no_rounding_error_that_shows(order: list[int]) -> None:
    """Nine digits of the true number: another machine writes the same on the page."""
    apart = sum((place - other) ** 2 for place, other in enumerate(order))
    found = correlate(np.arange(15.0), np.array(order, dtype=float))
    assert found.spearman == round(float(1 - Fraction(6 * apart, 15 * (15**2 - 1))), 9)


def test_the_matrix_says_what_the_pairs_say() -> None:
    """A column a score; two columns with two models in common have no coefficient."""
    scores = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 1, 3, 4], "c": [1.0, 2, np.nan, np.nan]})
    found = matrix(scores, "kendall")
    assert found.loc["a", "b"] == round(float(kendalltau(scores["a"], scores["b"]).statistic), 9)
    assert np.isnan(found.to_numpy()[0, 2]) and found.loc["b", "b"] == 1
    pairs = correlations([scores[name].to_numpy() for name in scores])
    assert [pairs[0, 1].kendall, pairs[0, 1].spearman] == [found.loc["a", "b"], 0.8]


def test_models_with_one_column_only_do_not_count() -> None:
    """N counts the models that have both; two orders of two models always agree or disagree completely."""
    found = correlate(np.array([1.0, 2, 3, math.nan, 5]), np.array([2.0, 4, 6, 8, math.nan]))
    assert found.n == 3 and found.spearman == pytest.approx(1.0)
    assert math.isnan(found.spearman_low), "three models have no interval"
    assert math.isnan(correlate(np.array([1.0, 2.0]), np.array([5.0, 9.0])).spearman)


@settings(deadline=None)
@given(PAIRS)
def test_leaving_each_out_is_ranking_the_others(pairs: list[tuple[int, int]]) -> None:
    """The extremes over all models are those of scipy on the others alone, ties included."""
    x, y = np.array(pairs, dtype=float).T
    rest = [(np.delete(x, place), np.delete(y, place)) for place in range(len(x))]
    known = [spearmanr(a, b).statistic for a, b in rest if np.ptp(a) and np.ptp(b)]
    expected = (min(known), max(known)) if known else (math.nan, math.nan)
    found = correlate(x, y)
    assert (found.without_one_low, found.without_one_high) == pytest.approx(expected, nan_ok=True)


def test_interval_holds_the_coefficient_and_narrows_with_models() -> None:
    """More models, narrower interval."""
    random = np.random.default_rng(9)

    def width(n: int) -> float:
        x = random.random(n)
        found = correlate(x, x + 0.3 * random.random(n))
        assert found.spearman_low <= found.spearman <= found.spearman_high
        return found.spearman_high - found.spearman_low

    assert width(200) < width(15)


@pytest.mark.parametrize(("n", "lowest"), [(5, 0.6), (8, 0.85), (15, 0.99)])
def test_few_models_in_one_order_are_not_certain(n: int, lowest: float) -> None:
    """Every resample of them gives 1; the interval still holds what would have looked the same."""
    found = correlate(np.arange(float(n)), np.arange(float(n)))
    assert (found.spearman, found.kendall) == pytest.approx((1.0, 1.0))
    assert found.spearman_low < lowest and found.kendall_low < lowest
    assert (found.spearman_high, found.kendall_high) == (1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 8, 24])
@pytest.mark.parametrize("r", [0.0, 0.9, 0.98])
def test_intervals_hold_the_correlation_of_all_models(n: int, r: float) -> None:
    """Simulated from a bivariate normal: both hold the coefficient that it implies, in 92 % or more."""
    random = np.random.default_rng(13)
    rho, tau = 6 / np.pi * np.arcsin(r / 2), 2 / np.pi * np.arcsin(r)
    held = np.zeros(2)
    for _ in range(200):
        x, noise = random.standard_normal((2, n))
        found = correlate(x, r * x + math.sqrt(1 - r * r) * noise)
        held += (
            found.spearman_low <= rho <= found.spearman_high,
            found.kendall_low <= tau <= found.kendall_high,
        )
    assert (held / 200 >= 0.92).all()
