"""The bootstrap over tasks."""

import numpy as np
import pytest
from scipy.stats import beta

from support.statistics import sample_of
from triathlon_site.uncertainty import draw, interval


@pytest.mark.parametrize(("passed", "tasks"), [(0, 10), (3, 10), (10, 10), (60, 164), (378, 378)])
def test_interval_of_pass_at_1_is_jeffreys(passed: int, tasks: int) -> None:
    """For pass/fail tasks the interval is Beta(k + 1/2, n - k + 1/2), widened to hold the score.

    0.008 is two and a half standard errors of the widest interval's end at so many draws.
    """
    outcomes = [1.0] * passed + [0.0] * (tasks - passed)
    found = interval(draw(sample_of({"m": outcomes}), 40_000), np.array([passed / tasks]))[0]
    low, high = (float(beta.ppf(q, passed + 0.5, tasks - passed + 0.5)) for q in (0.025, 0.975))
    assert found.low == pytest.approx(0.0 if passed == 0 else low, abs=0.008)
    assert found.high == pytest.approx(1.0 if passed == tasks else high, abs=0.008)


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
    """Simulated: the 95 % interval of a pass@1 holds the true chance in 90 % or more of the experiments."""
    random = np.random.default_rng(7)
    experiments = {str(i): list((random.random(tasks) < chance).astype(float)) for i in range(400)}
    sample = sample_of(experiments)
    found = interval(draw(sample, 1000), sample.scores())
    assert np.mean([one.low <= chance <= one.high for one in found]) >= 0.90


def test_intervals_of_skewed_loop_scores_cover_the_truth() -> None:
    """ASL adds up squares, mostly zeros and a few tens: its interval holds the true mean as well."""
    random = np.random.default_rng(11)
    values = np.arange(11) ** 2 / 10
    chances = np.array([0.9, 0.05, 0.02, 0.01, 0, 0, 0, 0, 0, 0, 0.02])
    experiments = {str(i): list(random.choice(values, size=50, p=chances)) for i in range(400)}
    sample = sample_of(experiments, maximum=10)
    found = interval(draw(sample, 1000), sample.scores())
    truth = float(values @ chances)
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.90
