"""Comparing two models task by task."""

import numpy as np
import pytest
from scipy.stats import binomtest

from support.statistics import sample_of
from triathlon_site.uncertainty import paired_difference, paired_p_values


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


def test_a_difference_is_first_minus_second_on_shared_tasks() -> None:
    """Twelve shared tasks, 9 against 6 right: a quarter, inside its interval; the other way, mirrored."""
    a = [1.0] * 9 + [0.0] * 3 + [1.0] * 8
    b = [1.0] * 6 + [0.0] * 6 + [np.nan] * 8
    sample = sample_of({"a": a, "b": b})
    found, back = paired_difference(sample, 0, 1), paired_difference(sample, 1, 0)
    assert found and back
    assert found.value == pytest.approx(0.25) == -back.value
    assert found.tasks == back.tasks == 12
    assert found.interval.low <= 0.25 <= found.interval.high


def test_nothing_shared_is_no_difference() -> None:
    """Not even a wide one."""
    assert paired_difference(sample_of({"a": [1.0, np.nan], "b": [np.nan, 1.0]}), 0, 1) is None


@pytest.mark.parametrize(("advantage", "least"), [(0.0, 0.9), (0.2, 0.9)])
def test_intervals_of_differences_hold_the_truth(advantage: float, least: float) -> None:
    """Nominal 95 %: of 200 pairs of models on 60 tasks each, at least nine in ten intervals do."""
    random = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        ease = random.random(60) * (1 - advantage)
        a, b = (random.random(60) < ease + more for more in (advantage, 0.0))
        sample = sample_of({"a": list(a.astype(float)), "b": list(b.astype(float))})
        found = paired_difference(sample, 0, 1, draws=800)
        held += bool(found and found.interval.low <= advantage <= found.interval.high)
    assert held >= least * 200
