"""The frontier of score and cost, and the share of draws in which a model is on it."""

import numpy as np
import pytest

from triathlon_site.frontier import DRAWS, frontier_shares, interval_draws, undominated
from triathlon_site.uncertainty import Interval


def by_definition(scores: np.ndarray, costs: np.ndarray) -> list[bool]:
    """No other model costs no more, scores no less, and is better in one of the two."""
    models = range(len(scores))
    return [
        not any(
            costs[other] <= costs[model]
            and scores[other] >= scores[model]
            and (costs[other], -scores[other]) != (costs[model], -scores[model])
            for other in models
        )
        for model in models
    ]


def test_undominated_follows_the_definition() -> None:
    """On random tables with many ties, the frontier is that of the definition, draw by draw."""
    random = np.random.default_rng(1)
    for models in (1, 2, 7, 12):
        costs = random.integers(1, 5, models).astype(float)
        scores = random.integers(0, 6, (40, models)).astype(float)
        found = undominated(scores, costs)
        assert [row.tolist() for row in found] == [by_definition(row, costs) for row in scores]
        assert undominated(scores[0], costs).tolist() == found[0].tolist()


def made_up(random: np.random.Generator, models: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True scores, costs, and draws from the posterior after a noisy measurement of each model."""
    spread, noise = 15.0, 4.0
    truth = 50 + spread * random.standard_normal(models)
    measured = truth + noise * random.standard_normal(models)
    weight = spread**2 / (spread**2 + noise**2)
    posterior = 50 + weight * (measured - 50)
    draws = posterior + np.sqrt(weight) * noise * random.standard_normal((DRAWS, models))
    return truth, random.permutation(models).astype(float), draws


def test_shares_are_chances() -> None:
    """Over 400 made-up boards, of the models with a share near p a part near p is truly on the frontier."""
    random = np.random.default_rng(2)
    shares, truly = [], []
    for _ in range(400):
        truth, costs, draws = made_up(random)
        shares.append(frontier_shares(draws, costs))
        truly.append(undominated(truth, costs))
    share, true = np.concatenate(shares), np.concatenate(truly)
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        near = (share >= low) & (share <= low + 0.2)
        assert true[near].mean() == pytest.approx(share[near].mean(), abs=0.07)
    assert share[true].mean() > 0.8
    assert share[~true].mean() < 0.12


def test_equal_models_share_the_frontier() -> None:
    """Of four models that score and cost the same, each is on the frontier in a quarter of the draws."""
    draws = interval_draws([6.0] * 4, [Interval(5.5, 6.5)] * 4, 10.0, "equal")
    shares = frontier_shares(draws, np.ones(4))
    assert shares.sum() == pytest.approx(1)
    assert shares == pytest.approx(np.full(4, 0.25), abs=4 * np.sqrt(0.25 * 0.75 / DRAWS))


def test_draws_follow_their_interval() -> None:
    """The central 95 % of the draws of a score are its interval, also near the end of the scale."""
    intervals = [Interval(40.0, 60.0), Interval(97.0, 99.9), Interval(0.0, 4.0)] * 40
    values = [50.0, 99.0, 1.0] * 40
    draws = interval_draws(values, intervals, 100.0, "ends")
    for kind in range(3):
        own = draws[:, kind::3].ravel()
        low, high = np.quantile(own, [0.025, 0.975])
        assert low == pytest.approx(intervals[kind].low, abs=0.6)
        assert high == pytest.approx(intervals[kind].high, abs=0.6)
        assert np.median(own) == pytest.approx(values[kind], abs=0.6)
