"""The bootstrap over tasks."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, kstest

from support.statistics import sample_of
from triathlon_site.uncertainty import (
    draw,
    draw_ends,
    interval,
    pass_fail_intervals,
    share_interval,
    task_weights,
)


@pytest.mark.parametrize(("passed", "tasks"), [(0, 10), (3, 10), (10, 10), (60, 164), (378, 378)])
def test_interval_of_pass_at_1_is_of_two_beta_distributions(passed: int, tasks: int) -> None:
    """Half way from Jeffreys' interval to that of Clopper and Pearson, widened to hold the score.

    0.008 is two and a half standard errors of the widest interval's end at so many draws.
    """
    outcomes = [1.0] * passed + [0.0] * (tasks - passed)
    found = interval(draw_ends(sample_of({"m": outcomes}), 40_000), np.array([passed / tasks]))[0]
    low = float(beta.ppf(0.025, passed + 0.25, tasks - passed + 0.75))
    high = float(beta.ppf(0.975, passed + 0.75, tasks - passed + 0.25))
    assert found.low == pytest.approx(0.0 if passed == 0 else low, abs=0.008)
    assert found.high == pytest.approx(1.0 if passed == tasks else high, abs=0.008)
    exact = share_interval(passed, tasks)
    assert (exact.low, exact.high) == pytest.approx((min(low, passed / tasks), max(high, passed / tasks)))


def test_none_solved_of_forty_is_not_certain() -> None:
    """0 of 40 and 40 of 40 have intervals of some width, on either side the same."""
    none, every = share_interval(0, 40), share_interval(40, 40)
    assert none.low == 0 and 0.05 < none.high < 0.12
    assert (1 - every.high, 1 - every.low) == pytest.approx((none.low, none.high))


def test_equal_counts_have_equal_intervals_in_every_suite() -> None:
    """0 of 2 has one upper end, whatever the suite and its tasks: it is that of the formula, not of draws."""
    found = {
        pass_fail_intervals(replace(sample_of({"m": [0.0, 0.0]}), suite=suite, seeds=seeds))[0]
        for suite in ("evolved/core-subtle", "evolved/core-concise")
        for seeds in ((("a",), ("b",)), (("a", "b"), ("c", "d")))
    }
    assert found == {share_interval(0, 2)}


def test_draws_alone_tell_where_the_formula_does_not_hold() -> None:
    """Tasks of one seed hang together, and shares of a task are no passes."""
    related = replace(sample_of({"m": [1.0, 0.0, 0.0]}), seeds=(("a", "b"), ("c",), ("b", "d")))
    assert pass_fail_intervals(related) == [None]
    assert pass_fail_intervals(sample_of({"m": [0.5, 1.0]})) == [None]


def test_a_seed_has_one_weight_wherever_its_tasks_stand() -> None:
    """Each is standard exponential; tasks of one seed share it, one of two seeds shares half with each."""
    weights = task_weights((("a",), ("b",), ("a",), ("a", "b"), ("c",)), 20_000)
    elsewhere = task_weights((("b",),), 20_000)
    assert np.array_equal(weights[:, 0], weights[:, 2]) and np.array_equal(weights[:, 1], elsewhere[:, 0])
    for column in weights.T:
        assert kstest(column, "expon").pvalue > 0.001
    correlations = np.atleast_2d(np.corrcoef(weights.T))
    assert correlations[3, [0, 1]] == pytest.approx([0.5, 0.5], abs=0.03)
    assert correlations[4, :4] == pytest.approx([0] * 4, abs=0.03)


def test_equal_scores_are_equal_in_whatever_order_they_were_added() -> None:
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 are one score."""
    scores = sample_of({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.3, 0.1, 0.2]}).scores()
    assert len(set(scores.tolist())) == 1


def test_equal_results_give_equal_draws_but_for_the_pseudo_tasks() -> None:
    """Two models with the same verdicts get the same task weights: their draws hardly differ."""
    outcomes = list(np.tile([1.0, 0.0, 1.0], 100))
    draws = draw(sample_of({"a": outcomes, "b": outcomes}))
    assert np.corrcoef(draws[:, 0], draws[:, 1])[0, 1] > 0.98


def test_draws_depend_on_nothing_but_the_results() -> None:
    """The same sample gives the same draws, bit for bit."""
    sample = sample_of({"a": [1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0]})
    assert np.array_equal(draw(sample), draw(sample))


def test_a_model_without_tasks_has_no_draws() -> None:
    """A model that has no result is nan, and disturbs no other model."""
    sample = sample_of({"a": [1.0, 0.0, 1.0], "b": [np.nan] * 3})
    draws = draw(sample)
    assert np.isnan(draws[:, 1]).all()
    assert not np.isnan(draws[:, 0]).any()
    assert np.isnan(sample.scores()[1])


@pytest.mark.parametrize("tasks", [10, 40])
@pytest.mark.parametrize("chance", [0.03, 0.3, 0.9])
def test_intervals_cover_the_truth(tasks: int, chance: float) -> None:
    """Simulated: the 95 % interval of a pass@1 holds the true chance in 93 % or more of the experiments."""
    random = np.random.default_rng(7)
    experiments = {str(i): list((random.random(tasks) < chance).astype(float)) for i in range(400)}
    sample = sample_of(experiments)
    found = interval(draw_ends(sample, 1000), sample.scores())
    assert np.mean([one.low <= chance <= one.high for one in found]) >= 0.93


def test_intervals_of_skewed_loop_scores_cover_the_truth() -> None:
    """ASL adds up squares, mostly zeros and a few tens: its interval holds the true mean as well."""
    random = np.random.default_rng(11)
    values = np.arange(11) ** 2 / 10
    chances = np.array([0.9, 0.05, 0.02, 0.01, 0, 0, 0, 0, 0, 0, 0.02])
    experiments = {str(i): list(random.choice(values, size=50, p=chances)) for i in range(400)}
    sample = sample_of(experiments, maximum=10)
    found = interval(draw_ends(sample, 1000), sample.scores())
    truth = float(values @ chances)
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.93
