"""Ranks, their intervals and shifts; tiers; the frontier of score and cost."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from support.statistics import sample_of
from triathlon_site.agreement import correlate
from triathlon_site.ranking import (
    Rank,
    drawn_ranks,
    interval_draws,
    percentiles,
    rank_shifts,
    ranks,
    smallest_ranks,
    tiers,
    undominated,
)
from triathlon_site.uncertainty import DRAWS, Interval, Sample, differences, draw

ALL = [1.0] * 60
HALF = [1.0] * 30 + [0.0] * 30
NONE = [0.0] * 60


def solved(count: int, of: int, seed: int | None = None) -> list[float]:
    """So many ones among zeros: first, or in places that the seed chooses."""
    order = np.arange(of) if seed is None else np.random.default_rng(seed).permutation(of)
    return list((order < count).astype(float))


def placed(sample: Sample) -> list[Rank | None]:
    """Each model's rank with its interval."""
    return ranks(sample.scores(), differences((sample,)).better)


def shifts_of(here: Sample, base: Sample, draws: int = DRAWS) -> list[tuple[int, bool]]:
    """The rank shift of each model, and whether it is significant."""
    found = rank_shifts(
        here.scores(), drawn_ranks(draw(here, draws)), base.scores(), drawn_ranks(draw(base, draws))
    )
    return [(one.shift, one.significant) for one in found if one]


@settings(deadline=None)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=30))
def test_ties_share_the_smallest_rank(scores: list[int]) -> None:
    """Ranks are scipy's with method `min`, highest score first."""
    assert smallest_ranks([float(s) for s in scores]) == list(rankdata([-s for s in scores], method="min"))


def test_rounding_noise_makes_no_rank() -> None:
    """Equal scores, added in another order, share rank, percentile and place in a correlation.

    A model without a score has no rank and pushes nobody down; in each draw two of them share the last.
    """
    scores = sample_of({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.0, 0.1, 0.0]}).scores()
    assert smallest_ranks(scores) == [1, 1, 3]
    assert percentiles(scores).tolist() == [75, 75, 0]
    assert correlate(scores, np.array([5.0, 5.0, 1.0])).spearman == pytest.approx(1)
    assert smallest_ranks([0.5, math.nan, 0.9]) == [2, None, 1]
    draws = np.array([[0.1, math.nan, 0.5, 0.5, math.nan], [0.9, math.nan, 0.2, 0.3, math.nan]])
    assert drawn_ranks(draws).best.tolist() == [[3, 4, 1, 1, 4], [1, 4, 3, 2, 4]]


def test_a_clear_leader_has_a_narrow_rank_interval() -> None:
    """The best of three, far ahead on 100 tasks, is first for sure; two near equal ones share 2 to 3."""
    middle = np.array(solved(50, 100, seed=5))
    found = placed(sample_of({"best": [1.0] * 100, "b": list(middle), "c": list(1 - middle)}))
    assert [(one.low, one.high) for one in found if one] == [(1, 1), (2, 3), (2, 3)]


@pytest.mark.parametrize(("better", "worse", "tasks", "sure"), [(180, 60, 200, True), (3, 2, 5, False)])
def test_a_shift_is_baseline_rank_minus_rank(better: int, worse: int, tasks: int, sure: bool) -> None:
    """Second by the baseline and first here: risen by one, which five tasks cannot tell from chance."""
    high, low = solved(better, tasks), solved(worse, tasks)
    here, base = sample_of({"a": high, "b": low}), sample_of({"a": low, "b": high})
    assert shifts_of(here, base) == [(1, sure), (-1, sure)]


@pytest.mark.parametrize(
    ("scores", "shares"), [([3.0, 1.0, 2.0], [100, 0, 50]), ([1.0, 1.0], [50, 50]), ([1.0], [50])]
)
def test_percentiles_are_the_share_of_others_beaten(scores: list[float], shares: list[float]) -> None:
    """Best 100, worst 0, ties half each; alone 50."""
    assert percentiles(scores) == pytest.approx(shares)


def test_ranks_of_ranges_hold_every_order_that_is_possible() -> None:
    """What may be 0.2 or 0.9 has no place of its own; what is above all others in any case stays first."""
    low = sample_of({"a": [1.0] * 90, "b": [0.2] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    high = sample_of({"a": [1.0] * 90, "b": [0.9] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    found = ranks(low.scores(), differences((low,), (high,)).better)
    spans = [(one.rank, one.low, one.high) for one in found if one]
    assert spans == [(1, 1, 1), (4, 2, 4), (2, 2, 3), (3, 3, 4)]
    within = drawn_ranks(low.scores()[None, :], high.scores()[None, :])
    assert within.best.tolist() == [[1, 2, 2, 3]] and within.worst.tolist() == [[1, 4, 3, 4]]


@pytest.mark.parametrize(("lowest", "rises"), [(0.5, True), (0.25, False)])
def test_a_shift_of_a_range_needs_every_score_that_is_possible(lowest: float, rises: bool) -> None:
    """Last by the baseline; here first with its lower end alone, or only with its upper one."""
    base = drawn_ranks(np.tile([3.0, 2.0, 1.0], (100, 1)))
    here = drawn_ranks(np.tile([0.2, 0.3, lowest], (100, 1)), np.tile([0.2, 0.3, 0.9], (100, 1)))
    found = rank_shifts(np.array([0.2, 0.3, 0.5]), here, np.array([3.0, 2.0, 1.0]), base)[2]
    assert found is not None and (found.shift, found.significant) == (2, rises)


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ([solved(52, 100, 2), solved(50, 100, 3), solved(10, 100)], [1, 1, 2]),
        ([NONE, ALL, HALF], [3, 1, 2]),
        ([[1.0] * 5, [math.nan] * 5], [1, None]),
        ([[1.0] * 3, [0.0] * 3], [1, 1]),
    ],
    ids=["what tasks cannot tell apart shares one", "from the best", "without a score", "three tasks"],
)
def test_tiers(models: list[list[float]], expected: list[int | None]) -> None:
    """Models that the tasks cannot tell from the best of their tier; numbered from the best."""
    sample = sample_of({str(place): row for place, row in enumerate(models)})
    assert tiers([sample], sample.scores()) == expected


def test_models_of_one_score_share_a_tier_whatever_their_names() -> None:
    """Both are ten tasks behind the leader: one fails what it fails and ten more, one fails other tasks."""
    leader = [1.0] * 60 + [0.0] * 40
    surely_worse, perhaps_worse = [1.0] * 50 + [0.0] * 50, [0.0] * 50 + [1.0] * 50
    for names in (("b", "c"), ("c", "b")):
        table = {"a": leader, names[0]: surely_worse, names[1]: perhaps_worse}
        sample = sample_of(dict(sorted(table.items())))
        assert tiers([sample], sample.scores()) == [1, 2, 2]


def test_weak_models_widen_no_tier_above_them() -> None:
    """Two strong models and one of half their strength; forty that solve nothing change nothing for them."""
    strong = {name: solved(count, 100, seed=count) for name, count in (("a", 90), ("b", 88), ("c", 60))}
    few = sample_of(strong)
    many = sample_of(strong | {str(place): [0.0] * 100 for place in range(40)})
    assert tiers([few], few.scores()) == [1, 1, 2]
    assert tiers([many], many.scores()) == [1, 1, 2, *[3] * 40]


def test_ranges_that_overlap_make_one_tier() -> None:
    """0.2 to 0.9 may be as good as 0.8; known exactly, 0.2 is worse."""
    low, high = sample_of({"a": [0.8] * 90, "b": [0.2] * 90}), sample_of({"a": [0.8] * 90, "b": [0.9] * 90})
    assert tiers([low], low.scores()) == [1, 2]
    assert tiers([low], low.scores(), [high]) == [1, 1]


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
