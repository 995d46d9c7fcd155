"""Comparing two models task by task."""

import numpy as np
import pytest
from scipy.stats import binomtest

from support.statistics import sample_of
from triathlon_site.uncertainty import holm, paired_p_values


@pytest.mark.parametrize("tasks", [3, 5, 8])
def test_one_side_winning_everything_proves_as_much_as_the_mid_p_sign_test(tasks: int) -> None:
    """K tasks, all won by one model: p = 2^-k, the mid-p value of the sign test."""
    sample = sample_of({"a": [1.0] * tasks, "b": [0.0] * tasks})
    found = paired_p_values([sample], 0, [1], draws=40_000)[0]
    assert found == pytest.approx(2.0**-tasks, rel=0.15)


def test_equal_models_do_not_differ() -> None:
    """The same verdicts on every task: p is 1, give or take the noise of the draws."""
    outcomes = [1.0, 0.0, 1.0, 1.0] * 20
    assert paired_p_values([sample_of({"a": outcomes, "b": outcomes})], 0, [1])[0] > 0.9


def test_many_tasks_agree_with_the_sign_test() -> None:
    """60 disputed tasks of 300, 42 to 18: p near that of the exact sign test."""
    a = [1.0] * 42 + [0.0] * 18 + [1.0] * 240
    b = [0.0] * 42 + [1.0] * 18 + [1.0] * 240
    found = paired_p_values([sample_of({"a": a, "b": b})], 0, [1])[0]
    exact = binomtest(42, 60).pvalue
    assert exact / 3 < found < exact * 3


def test_only_shared_tasks_are_compared() -> None:
    """A task that one model has not run says nothing about the difference."""
    a = [1.0] * 20 + [0.0] * 20
    b = [1.0] * 20 + [np.nan] * 20
    assert paired_p_values([sample_of({"a": a, "b": b})], 0, [1])[0] > 0.9


def test_models_without_shared_tasks_cannot_be_told_apart() -> None:
    """No task in common: no difference is claimed."""
    sample = sample_of({"a": [1.0, 1.0, np.nan, np.nan], "b": [np.nan, np.nan, 0.0, 0.0]})
    assert paired_p_values([sample], 0, [1])[0] == pytest.approx(1.0)


def test_false_alarms_are_as_rare_as_promised() -> None:
    """Two equally good models differ at 5 % in about 5 % of the experiments."""
    random = np.random.default_rng(3)
    truth = random.random(60)
    models = {str(i): list((random.random(60) < truth).astype(float)) for i in range(401)}
    found = paired_p_values([sample_of(models)], 0, list(range(1, 401)), draws=1000)
    below = [
        paired_p_values(
            [sample_of({"a": models[str(2 * i)], "b": models[str(2 * i + 1)]})], 0, [1], draws=500
        )[0]
        for i in range(200)
    ]
    assert np.mean(np.array(below) < 0.05) <= 0.09
    assert len(found) == 400


def test_holm_adjusts_as_published() -> None:
    """Worked example: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02."""
    found = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_never_exceeds_one() -> None:
    """Adjusted p-values are p-values."""
    assert holm(np.array([0.9, 0.8])).max() == 1.0
