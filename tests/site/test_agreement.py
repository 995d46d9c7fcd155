"""Rank correlations, and what variants do to measured scores."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from triathlon_site import agreement


@pytest.mark.parametrize("n", [12, 400])
def test_resampled_coefficients_are_those_of_scipy(n: int) -> None:
    """With midranks and tau-b, repeated models tied with themselves."""
    values = np.random.default_rng(4).integers(50, size=(3, n)).astype(float)
    pairs = np.array([0, 0, 1]), np.array([1, 2, 2])
    counts = agreement.drawn(n, "some")[:10]
    rhos, taus = agreement.spearman(values, pairs, counts), agreement.kendall(values, pairs, counts)
    for row, rho, tau in zip(counts, rhos, taus, strict=True):
        models = np.repeat(np.arange(n), row.astype(int))
        for place, (left, right) in enumerate(zip(*pairs, strict=True)):
            x, y = values[left, models], values[right, models]
            assert rho[place] == pytest.approx(spearmanr(x, y).statistic)
            assert tau[place] == pytest.approx(kendalltau(x, y).statistic)


def test_pairs_that_are_correlated_together_are_as_each_alone() -> None:
    """Whatever the others are, a pair has its own models, and the resamples of as many."""
    random = np.random.default_rng(6)
    columns = [np.where(random.random(30) < 0.8, random.random(30), np.nan) for _ in range(4)]
    found = agreement.correlations(columns)
    assert list(found) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for (left, right), correlation in found.items():
        assert correlation == agreement.correlations([columns[left], columns[right]])[0, 1]


@given(st.permutations(range(15)))
def test_a_coefficient_has_no_rounding_error_that_shows(order: list[int]) -> None:
    """Nine digits of the true number: another machine writes the same on the page."""
    apart = sum((place - other) ** 2 for place, other in enumerate(order))
    found = agreement.correlations([np.arange(15.0), np.array(order, dtype=float)])[0, 1]
    assert found.spearman == round(float(1 - Fraction(6 * apart, 15 * (15**2 - 1))), 9)


def test_the_matrix_says_what_the_pairs_say() -> None:
    """Over the models that have both; of two models there is no coefficient, of three no interval."""
    scores = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 1, 3, 4], "c": [1.0, 2, np.nan, np.nan]})
    found = agreement.matrix(scores, "kendall")
    assert found.loc["a", "b"] == round(float(kendalltau(scores["a"], scores["b"]).statistic), 9)
    assert np.isnan(found.to_numpy()[0, 2]) and found.loc["b", "b"] == 1
    pairs = agreement.correlations([scores[name].to_numpy() for name in scores])
    assert [pairs[0, 1].kendall, pairs[0, 1].spearman] == [found.loc["a", "b"], 0.8]
    three = agreement.correlations(list(np.array([[1, 2, 3, math.nan, 5], [2, 4, 6, 8, math.nan]])))[0, 1]
    assert three.n == 3 and three.spearman == pytest.approx(1.0)
    assert math.isnan(three.spearman_low), "three models have no interval"
    assert math.isnan(agreement.correlations([np.array([1.0, 2.0]), np.array([5.0, 9.0])])[0, 1].spearman)


@pytest.mark.parametrize(("n", "lowest"), [(5, 0.6), (8, 0.85), (15, 0.99)])
def test_few_models_in_one_order_are_not_certain(n: int, lowest: float) -> None:
    """Every resample of them gives 1; the interval still holds what would have looked the same."""
    found = agreement.correlations([np.arange(float(n)), np.arange(float(n))])[0, 1]
    assert (found.spearman, found.kendall) == pytest.approx((1.0, 1.0))
    assert found.spearman_low < lowest and found.kendall_low < lowest
    assert (found.spearman_high, found.kendall_high) == (1.0, 1.0)


Scores = dict[str, dict[str, float]]
"""By model and task."""
BASELINE: Scores = {
    "a": {"x": 10, "y": 8},
    "b": {"x": 7, "y": 6},
    "c": {"x": 3, "y": 2},
    "d": {"x": 1, "y": 0},
}


def test_ranks_under_variants() -> None:
    """Of the same order, of the reverse, and of both: then every mean rank is the same, no correlation."""
    lower = {model: {task: max(0, n - 1) for task, n in own.items()} for model, own in BASELINE.items()}
    found = agreement.compare(BASELINE, {"upper": lower, "detailed": BASELINE})
    assert found.sensitivity.correlation.spearman == pytest.approx(1)
    assert found.sensitivity.mean_ranks == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert (found.tasks, found.left_out) == (2, [])
    assert (found.baseline["a"], found.variants["upper"]["a"]) == pytest.approx((9, 8))
    turned = dict(zip(BASELINE, reversed(BASELINE.values()), strict=True))
    found = agreement.compare(BASELINE, {"upper": turned})
    assert found.sensitivity.correlation.spearman == pytest.approx(-1)
    both = agreement.compare(BASELINE, {"upper": turned, "detailed": BASELINE})
    assert math.isnan(both.sensitivity.correlation.spearman)
    assert set(both.sensitivity.mean_ranks.values()) == {2.5}


def test_without_variants_or_shared_tasks_there_is_no_correlation() -> None:
    """Nothing to compare: nan, and no error."""
    apart = {"a": {"x": 1.0}, "b": {"y": 1.0}, "c": {"z": 1.0}}
    upper: list[Scores] = [{}, {"a": {"x": 1.0}}, {"a": {"y": 1.0}}]
    for baseline in (BASELINE, apart, {"a": {"x": 1.0}}):
        for variants in ({}, *({"upper": scores} for scores in upper)):
            assert math.isnan(agreement.compare(baseline, variants).sensitivity.correlation.spearman)


def test_models_are_compared_on_the_tasks_that_all_of_them_have() -> None:
    """A model without a variant is left out and listed; a variant that nobody ran leaves nobody out."""
    found = agreement.compare(BASELINE, {"upper": {**BASELINE, "c": {"x": 3.0}}})
    assert found.tasks == 1
    assert found.baseline["c"] == found.variants["upper"]["c"] == 3
    variant = {model: own for model, own in BASELINE.items() if model != "b"}
    found = agreement.compare(BASELINE, {"upper": variant, "detailed": BASELINE, "redundant": {}})
    assert found.left_out == ["b"]
    assert (set(found.baseline), set(found.variants)) == ({"a", "c", "d"}, {"upper", "detailed"})


def test_ties_share_the_smallest_rank() -> None:
    """A model without every variant has none; fewer than three models, or equal ones, give nan."""
    baseline = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0, "e": 0.5}
    variants = {"x": dict.fromkeys("abcd", 1.0), "y": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 0.0}}
    result = agreement.sensitivity(baseline, variants)
    assert result.baseline_ranks == {"a": 1, "b": 2, "c": 2, "d": 4}
    assert set(result.mean_ranks) == {"a", "b", "c", "d"}
    for scores in ({}, {"a": 1.0}, {"a": 1.0, "b": 2.0}, dict.fromkeys("abc", 1.0)):
        assert math.isnan(agreement.sensitivity(scores, {"x": scores}).correlation.spearman)
