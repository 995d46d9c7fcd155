"""The sequential test: how often it errs, and what it says of clear cases."""

import numpy as np
import pytest

from triathlon_runner.gate import SequentialTest


def run(differences: np.ndarray, **options: float) -> SequentialTest:
    test = SequentialTest(**options)
    for difference in differences:
        test.add(float(difference))
        if test.verdict != "undecided":
            break
    return test


def test_equal_models_are_rarely_called_different() -> None:
    """At most 5 % of 400 pairs of equal models get a verdict, though one looks after every task."""
    draw = np.random.default_rng(1)
    called = 0
    for _ in range(400):
        discordant = draw.random(120) < 0.3
        called += run(np.where(discordant, draw.choice([-1.0, 1.0], 120), 0.0)).verdict != "undecided"
    assert called <= 400 * 0.05


@pytest.mark.parametrize(("sign", "verdict"), [(-1, "worse"), (1, "better")])
def test_a_clear_difference_is_decided_within_a_few_tasks(sign: int, verdict: str) -> None:
    """Nine discordant tasks of one sign are enough at the default level: 2^9 > 40 > 2^5."""
    test = run(np.full(30, float(sign)))
    assert test.verdict == verdict and 6 <= test.count <= 9


def test_not_worse_needs_a_margin() -> None:
    """Models that agree on every task: B is not worse by 5 points; whether at all, nobody knows."""
    assert run(np.zeros(400), margin=0.05).verdict == "not worse"
    assert run(np.zeros(400)).verdict == "undecided"


def test_a_loss_within_the_margin_is_not_worse() -> None:
    """B loses two tasks of 200; ten points are allowed."""
    differences = np.zeros(200)
    differences[[20, 60]] = -1
    test = run(differences, margin=0.1)
    assert test.verdict == "not worse" and test.mean > -0.1


def test_the_interval_holds_the_mean_at_every_look() -> None:
    """In at most 5 of 100 runs is the true mean ever outside."""
    draw = np.random.default_rng(2)
    missed = 0
    for _ in range(100):
        test = SequentialTest()
        for difference in draw.choice([-1.0, 0.0, 1.0], 60, p=[0.3, 0.5, 0.2]):
            test.add(float(difference))
        low, high = test.interval  # what was outside once stays outside
        missed += not low <= -0.1 <= high
        assert high - low < 0.8
    assert missed <= 5


def test_before_any_task_everything_is_possible() -> None:
    """The widest interval, and no mean."""
    test = SequentialTest()
    assert test.interval == (-1.0, 1.0) and np.isnan(test.mean) and test.verdict == "undecided"
