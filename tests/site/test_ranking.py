"""Ranks, their intervals and shifts; tiers and weightings."""

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
    percentiles,
    rank_draws,
    rank_shifts,
    ranks,
    smallest_ranks,
    tiers,
    wins_by_weighting,
)
from triathlon_site.uncertainty import DRAWS, Sample, differences, draw

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
    """Equal scores, added in another order, share rank, percentile and place in a correlation."""
    scores = sample_of({"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.0, 0.1, 0.0]}).scores()
    assert smallest_ranks(scores) == [1, 1, 3]
    assert percentiles(scores).tolist() == [75, 75, 0]
    assert correlate(scores, np.array([5.0, 5.0, 1.0])).spearman == pytest.approx(1)


def test_a_missing_score_takes_no_place() -> None:
    """A model without one has no rank and pushes nobody down; in each draw two of them share the last."""
    assert smallest_ranks([0.5, math.nan, 0.9]) == [2, None, 1]
    draws = np.array([[0.1, math.nan, 0.5, 0.5, math.nan], [0.9, math.nan, 0.2, 0.3, math.nan]])
    assert rank_draws(draws).tolist() == [[3, 4, 1, 1, 4], [1, 4, 3, 2, 4]]


def test_a_clear_leader_has_a_narrow_rank_interval() -> None:
    """The best of three, far ahead on 100 tasks, is first for sure; two near equal ones share 2 to 3."""
    middle = np.array(solved(50, 100, seed=5))
    found = placed(sample_of({"best": [1.0] * 100, "b": list(middle), "c": list(1 - middle)}))
    assert [(one.low, one.high) for one in found if one] == [(1, 1), (2, 3), (2, 3)]


def test_a_tie_is_marked() -> None:
    """Two models of equal score share the rank, and both know it."""
    found = placed(sample_of({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.0, 0.0]}))
    assert [(one.rank, one.tied) for one in found if one] == [(1, True), (1, True), (3, False)]


@pytest.mark.parametrize(("better", "worse", "tasks", "sure"), [(180, 60, 200, True), (3, 2, 5, False)])
def test_a_shift_is_baseline_rank_minus_rank(better: int, worse: int, tasks: int, sure: bool) -> None:
    """Second by the baseline and first here: risen by one, which five tasks cannot tell from chance."""
    high, low = solved(better, tasks), solved(worse, tasks)
    here, base = sample_of({"a": high, "b": low}), sample_of({"a": low, "b": high})
    assert shifts_of(here, base) == [(1, sure), (-1, sure)]


def test_models_that_do_not_move_are_seldom_marked() -> None:
    """Twelve equal models, ranked twice by chance: about one shift in twenty looks significant."""
    random = np.random.default_rng(19)
    marked = []
    for _ in range(40):
        here, base = (
            sample_of({str(m): list((random.random(60) < 0.5).astype(float)) for m in range(12)}, suite=suite)
            for suite in ("a", "b")
        )
        marked += [significant for _, significant in shifts_of(here, base, 1000)]
    assert np.mean(marked) <= 0.07


@pytest.mark.parametrize(
    ("scores", "shares"), [([3.0, 1.0, 2.0], [100, 0, 50]), ([1.0, 1.0], [50, 50]), ([1.0], [50])]
)
def test_percentiles_are_the_share_of_others_beaten(scores: list[float], shares: list[float]) -> None:
    """Best 100, worst 0, ties half each; alone 50."""
    assert percentiles(scores) == pytest.approx(shares)


@pytest.mark.parametrize("models", [12, 40])
def test_intervals_of_nearly_equal_models_hold_their_ranks(models: int) -> None:
    """The hardest case: 2 points apart in all. Over all models, 93 % of the intervals hold the true rank."""
    random = np.random.default_rng(29)
    chances, found = np.linspace(0.51, 0.49, models), []
    for _ in range(480 // models):
        passed = random.random((models, 80)) < chances[:, None]
        sample = sample_of({f"{m:02d}": list(row.astype(float)) for m, row in enumerate(passed)})
        found += [one and one.low <= true <= one.high for true, one in enumerate(placed(sample), 1)]
    assert np.mean(np.array(found, dtype=bool)) >= 0.93


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


@pytest.mark.parametrize(
    ("percentiles_of", "shares"),
    [([[100.0, 100, 100], [50, 50, 50], [0, 0, 0]], [1, 0, 0]), ([[100.0, 0], [0, 100]], [0.5, 0.5])],
)
def test_the_share_of_weightings_in_which_a_model_is_first(
    percentiles_of: list[list[float]], shares: list[float]
) -> None:
    """Dominance needs no weights; two specialists share them, half each in the balance."""
    assert wins_by_weighting(np.array(percentiles_of)).tolist() == pytest.approx(shares)


def test_equal_models_are_seldom_split() -> None:
    """24 equally good models on 80 tasks: one tier in 19 of 20 experiments, whichever of them came first."""
    random = np.random.default_rng(17)
    split = 0
    for _ in range(60):
        chances = random.random(80)
        sample = sample_of({str(m): list((random.random(80) < chances).astype(float)) for m in range(24)})
        split += max(tier or 0 for tier in tiers([sample], sample.scores())) > 1
    assert split <= 6


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
