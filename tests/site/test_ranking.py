"""Ranks, their intervals and shifts; tiers; the frontier of score and cost."""

import math

import numpy as np
import pytest
from scipy.stats import rankdata

from support.statistics import sample_of
from triathlon_site import ranking
from triathlon_site.agreement import correlate
from triathlon_site.uncertainty import Interval, differences, draw, mean_scores

ALL = [1.0] * 60
HALF = [1.0] * 30 + [0.0] * 30
NONE = [0.0] * 60


def solved(count: int, of: int, seed: int | None = None) -> list[float]:
    """So many ones among zeros: first, or in places that the seed chooses."""
    order = np.arange(of) if seed is None else np.random.default_rng(seed).permutation(of)
    return list((order < count).astype(float))


def test_rounding_noise_makes_no_rank() -> None:
    """Equal scores, added in another order, share all places; a model without a score pushes nobody down."""
    scores = sample_of({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.0, 0.1, 0.0]}).scores()
    assert ranking.smallest_ranks(scores) == list(rankdata(-scores, method="min")) == [1, 1, 3]
    assert ranking.percentiles(scores).tolist() == [75, 75, 0] and ranking.percentiles([1.0]).tolist() == [50]
    assert correlate(scores, np.array([5.0, 5.0, 1.0])).spearman == pytest.approx(1)
    assert ranking.smallest_ranks([0.5, math.nan, 0.9]) == [2, None, 1]
    counts = (21, 17), (15, 16), (17, 23), (17, 15), (14, 18), (21, 16)  # 3.5 / 6 of both, over 30 tasks
    sets = [sample_of({"a": solved(one, 30), "b": solved(other, 30)}) for one, other in counts]
    assert ranking.smallest_ranks(mean_scores(sets)) == [1, 1]
    draws = np.array([[0.1, math.nan, 0.5, 0.5, math.nan], [0.9, math.nan, 0.2, 0.3, math.nan]])
    assert ranking.drawn_ranks(draws).best.tolist() == [[3, 4, 1, 1, 4], [1, 4, 3, 2, 4]]


def test_a_clear_leader_has_a_narrow_rank_interval() -> None:
    """The best of three, far ahead on 100 tasks, is first for sure; two near equal ones share 2 to 3."""
    middle = np.array(solved(50, 100, seed=5))
    sample = sample_of({"best": [1.0] * 100, "b": list(middle), "c": list(1 - middle)})
    found = ranking.ranks(sample.scores(), differences((sample,)).better)
    assert [(one.low, one.high) for one in found if one] == [(1, 1), (2, 3), (2, 3)]


@pytest.mark.parametrize(("better", "worse", "tasks", "sure"), [(180, 60, 200, True), (3, 2, 5, False)])
def test_a_shift_is_baseline_rank_minus_rank(better: int, worse: int, tasks: int, sure: bool) -> None:
    """Second by the baseline and first here: risen by one, which five tasks cannot tell from chance."""
    high, low = solved(better, tasks), solved(worse, tasks)
    here, base = sample_of({"a": high, "b": low}), sample_of({"a": low, "b": high})
    of_here, of_base = (ranking.drawn_ranks(draw(sample)) for sample in (here, base))
    found = ranking.rank_shifts(here.scores(), of_here, base.scores(), of_base)
    assert [(one.shift, one.significant) for one in found if one] == [(1, sure), (-1, sure)]


def test_ranks_of_ranges_hold_every_order_that_is_possible() -> None:
    """What may be 0.2 or 0.9 has no place or tier of its own; what is above all others stays first."""
    low = sample_of({"a": [1.0] * 90, "b": [0.2] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    high = sample_of({"a": [1.0] * 90, "b": [0.9] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    found = ranking.ranks(low.scores(), differences((low,), (high,)).better)
    spans = [(one.rank, one.low, one.high) for one in found if one]
    assert spans == [(1, 1, 1), (4, 2, 4), (2, 2, 3), (3, 3, 4)]
    assert ranking.tiers([low], low.scores()) == [1, 4, 2, 3]
    assert ranking.tiers([low], low.scores(), [high]) == [1, 3, 2, 3]
    within = ranking.drawn_ranks(low.scores()[None, :], high.scores()[None, :])
    assert within.best.tolist() == [[1, 2, 2, 3]] and within.worst.tolist() == [[1, 4, 3, 4]]


@pytest.mark.parametrize(("lowest", "rises"), [(0.5, True), (0.25, False)])
def test_a_shift_of_a_range_needs_every_score_that_is_possible(lowest: float, rises: bool) -> None:
    """Last by the baseline; here first with its lower end alone, or only with its upper one."""
    base = ranking.drawn_ranks(np.tile([3.0, 2.0, 1.0], (100, 1)))
    here = ranking.drawn_ranks(np.tile([0.2, 0.3, lowest], (100, 1)), np.tile([0.2, 0.3, 0.9], (100, 1)))
    found = ranking.rank_shifts(np.array([0.2, 0.3, 0.5]), here, np.array([3.0, 2.0, 1.0]), base)[2]
    assert found is not None and (found.shift, found.significant) == (2, rises)


LEADER = [1.0] * 60 + [0.0] * 40
SURELY_WORSE, PERHAPS_WORSE = [1.0] * 50 + [0.0] * 50, [0.0] * 50 + [1.0] * 50
"""Ten tasks behind the leader: of what it solves, or of other tasks."""
STRONG = [solved(count, 100, seed=count) for count in (90, 88, 60)]
TIERS: dict[str, tuple[list[list[float]], list[int | None]]] = {
    "what tasks cannot tell apart": ([solved(52, 100, 2), solved(50, 100, 3), solved(10, 100)], [1, 1, 2]),
    "from the best": ([NONE, ALL, HALF], [3, 1, 2]),
    "without a score": ([[1.0] * 5, [math.nan] * 5], [1, None]),
    "three tasks": ([[1.0] * 3, [0.0] * 3], [1, 1]),
    "one score, whatever the order": ([LEADER, SURELY_WORSE, PERHAPS_WORSE], [1, 2, 2]),
    "one score, the other way round": ([LEADER, PERHAPS_WORSE, SURELY_WORSE], [1, 2, 2]),
    "two strong models and a weaker one": (STRONG, [1, 1, 2]),
    "weak models widen no tier above": ([*STRONG, *[[0.0] * 100] * 40], [1, 1, 2, *[3] * 40]),
}


@pytest.mark.parametrize("case", TIERS)
def test_tiers(case: str) -> None:
    """Models that the tasks cannot tell from the best of their tier; numbered from the best."""
    models, expected = TIERS[case]
    sample = sample_of({f"{place:02}": row for place, row in enumerate(models)})
    assert ranking.tiers([sample], sample.scores()) == expected


def by_definition(scores: np.ndarray, costs: np.ndarray) -> list[bool]:
    """No other model costs no more, scores no less, and is better in one of the two."""
    models = list(zip(costs, scores, strict=True))
    return [
        not any(paid <= cost and got >= score and (paid, got) != (cost, score) for paid, got in models)
        for cost, score in models
    ]


def test_undominated_follows_the_definition() -> None:
    """On random tables with many ties, the frontier is that of the definition."""
    random = np.random.default_rng(1)
    for models in (1, 2, 7, 12):
        costs = random.integers(1, 5, models).astype(float)
        for scores in random.integers(0, 6, (40, models)).astype(float):
            assert ranking.undominated(scores, costs).tolist() == by_definition(scores, costs)


def test_draws_follow_their_interval() -> None:
    """The central 95 % of the draws of a score are its interval, also near the end of the scale."""
    intervals = [Interval(40.0, 60.0), Interval(97.0, 99.9), Interval(0.0, 4.0)] * 40
    values = [50.0, 99.0, 1.0] * 40
    draws = ranking.interval_draws(values, intervals, 100.0, "ends")
    for kind in range(3):
        own = draws[:, kind::3].ravel()
        low, high = np.quantile(own, [0.025, 0.975])
        assert low == pytest.approx(intervals[kind].low, abs=0.6)
        assert high == pytest.approx(intervals[kind].high, abs=0.6)
        assert np.median(own) == pytest.approx(values[kind], abs=0.6)
