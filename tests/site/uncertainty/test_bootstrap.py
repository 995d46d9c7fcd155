"""The bootstrap over tasks."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, binom, kstest

from support.statistics import sample_of
from triathlon_site.uncertainty import draw, score_intervals, share_interval, task_weights


@pytest.mark.parametrize(("passed", "tasks"), [(0, 10), (3, 10), (10, 10), (60, 164), (378, 378)])
def test_interval_of_pass_at_1_is_of_two_beta_distributions(passed: int, tasks: int) -> None:
    """Half way from Jeffreys' interval to that of Clopper and Pearson, widened to hold the score."""
    (found,) = score_intervals([sample_of({"m": [1.0] * passed + [0.0] * (tasks - passed)})])
    low = 0.0 if passed == 0 else float(beta.ppf(0.025, passed + 0.25, tasks - passed + 0.75))
    high = 1.0 if passed == tasks else float(beta.ppf(0.975, passed + 0.75, tasks - passed + 0.25))
    assert (found.low, found.high) == pytest.approx((low, high))
    exact = share_interval(passed, tasks)
    assert (exact.low, exact.high) == pytest.approx((low, high))


def test_equal_counts_have_equal_intervals_in_every_suite() -> None:
    """0 of 2 has one interval, whatever the suite and its tasks."""
    for suite in ("evolved/core-subtle", "evolved/core-concise"):
        for seeds in ((("a",), ("b",)), (("a", "b"), ("c", "d"))):
            (found,) = score_intervals([replace(sample_of({"m": [0.0, 0.0]}), suite=suite, seeds=seeds)])
            of_formula = share_interval(0, 2)
            assert (found.low, found.high) == pytest.approx((of_formula.low, of_formula.high))


def test_an_interval_follows_the_spread_that_was_seen() -> None:
    """Scores of tasks that are all near 10 % have a narrow interval, with arms of about the same length."""
    shares = list(np.tile([0.06, 0.08, 0.1, 0.12, 0.14], 16))
    (near,) = score_intervals([sample_of({"m": shares})])
    passes = share_interval(8, 80)
    assert near.high - near.low < 0.2 * (passes.high - passes.low)
    assert 0.5 < (near.high - 0.1) / (0.1 - near.low) < 2


def test_tasks_of_one_seed_make_a_wider_interval() -> None:
    """Forty tasks of ten seeds say less than forty of forty, where those of one seed end alike."""
    values = [float(place < 16) for place in range(40)]
    alone = sample_of({"m": values})
    related = replace(alone, seeds=tuple((f"seed {place // 4}",) for place in range(40)))
    (one,), (other,) = score_intervals([alone]), score_intervals([related])
    assert other.low < one.low and other.high > one.high


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


def test_a_model_without_tasks_has_no_draws() -> None:
    """A model that has no result is nan, and disturbs no other model."""
    sample = sample_of({"a": [1.0, 0.0, 1.0], "b": [np.nan] * 3})
    draws = draw(sample)
    assert np.isnan(draws[:, 1]).all()
    assert not np.isnan(draws[:, 0]).any()
    assert np.isnan(sample.scores()[1])


@pytest.mark.parametrize("tasks", [40, 80, 100, 164, 378])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_a_share_is_held(tasks: int, share: float) -> None:
    """Summed over every count that can come, with its probability; never much wider than it says, either."""
    counts = np.arange(tasks + 1)
    spans = [share_interval(float(count), tasks) for count in counts]
    held = np.array([span.low <= share <= span.high for span in spans])
    assert 0.93 <= binom.pmf(counts, tasks, share)[held].sum() <= 0.99
