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
from triathlon_site.uncertainty import Sample, differences, draw


def placed(sample: Sample) -> list[Rank | None]:
    """Each model's rank with its interval."""
    return ranks(sample.scores(), differences((sample,)).better)


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
    """A model without a score has no rank and pushes nobody down."""
    assert smallest_ranks([0.5, math.nan, 0.9]) == [2, None, 1]


def test_a_model_without_a_score_comes_last_in_each_draw() -> None:
    """Each draw is ranked by itself, ties sharing the smallest rank; two without a score share the last."""
    draws = np.array([[0.1, math.nan, 0.5, 0.5, math.nan], [0.9, math.nan, 0.2, 0.3, math.nan]])
    assert rank_draws(draws).tolist() == [[3, 4, 1, 1, 4], [1, 4, 3, 2, 4]]


def test_a_clear_leader_has_a_narrow_rank_interval() -> None:
    """The best of three, far ahead on 100 tasks, is first in every draw; two equal ones share 2 to 3."""
    rng = np.random.default_rng(5)
    middle = (rng.random(100) < 0.5).astype(float)
    sample = sample_of({"best": [1.0] * 100, "b": list(middle), "c": list(1 - middle)})
    found = placed(sample)
    assert found[0] is not None and (found[0].low, found[0].high) == (1, 1)
    assert found[1] is not None and (found[1].low, found[1].high) == (2, 3)


def test_a_tie_is_marked() -> None:
    """Two models of equal score share the rank, and both know it."""
    sample = sample_of({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.0, 0.0]})
    found = placed(sample)
    assert [(one.rank, one.tied) for one in found if one] == [(1, True), (1, True), (3, False)]


def test_a_shift_is_baseline_rank_minus_rank() -> None:
    """A model that is second by the baseline and first here has risen by one, significantly on 200 tasks."""
    here = sample_of({"a": [1.0] * 180 + [0.0] * 20, "b": [1.0] * 60 + [0.0] * 140})
    base = sample_of({"a": [1.0] * 60 + [0.0] * 140, "b": [1.0] * 180 + [0.0] * 20})
    found = rank_shifts(here.scores(), drawn_ranks(draw(here)), base.scores(), drawn_ranks(draw(base)))
    assert [(one.shift, one.significant) for one in found if one] == [(1, True), (-1, True)]


def test_models_that_do_not_move_are_seldom_marked() -> None:
    """Twelve equal models, ranked twice by chance: about one shift in twenty looks significant."""
    random = np.random.default_rng(19)
    marked = []
    for _ in range(40):
        here, base = (
            sample_of({str(m): list((random.random(60) < 0.5).astype(float)) for m in range(12)}, suite=suite)
            for suite in ("a", "b")
        )
        found = rank_shifts(
            here.scores(), drawn_ranks(draw(here, 1000)), base.scores(), drawn_ranks(draw(base, 1000))
        )
        marked += [one.significant for one in found if one]
    assert np.mean(marked) <= 0.07


def test_a_shift_on_few_tasks_is_not_significant() -> None:
    """One task in five decides: the sign of the shift is not to be trusted."""
    here = sample_of({"a": [1.0, 0.0, 1.0, 0.0, 1.0], "b": [1.0, 0.0, 0.0, 0.0, 1.0]})
    base = sample_of({"a": [1.0, 0.0, 0.0, 0.0, 1.0], "b": [1.0, 0.0, 1.0, 0.0, 1.0]})
    found = rank_shifts(here.scores(), drawn_ranks(draw(here)), base.scores(), drawn_ranks(draw(base)))
    assert found[0] is not None and found[0].shift == 1 and not found[0].significant


def test_percentiles_are_the_share_of_others_beaten() -> None:
    """Best 100, worst 0, ties half each; alone 50."""
    assert percentiles([3.0, 1.0, 2.0]) == pytest.approx([100, 0, 50])
    assert percentiles([1.0, 1.0]) == pytest.approx([50, 50])
    assert percentiles([1.0]) == pytest.approx([50])


@pytest.mark.parametrize("models", [12, 40])
def test_intervals_of_nearly_equal_models_hold_their_ranks(models: int) -> None:
    """The hardest case: 2 points apart in all. Over all models, 93 % of the intervals hold the true rank."""
    random = np.random.default_rng(29)
    chances, found = np.linspace(0.51, 0.49, models), []
    for _ in range(480 // models):
        solved = random.random((models, 80)) < chances[:, None]
        sample = sample_of({f"{m:02d}": list(row.astype(float)) for m, row in enumerate(solved)})
        found += [one and one.low <= true <= one.high for true, one in enumerate(placed(sample), 1)]
    assert np.mean(np.array(found, dtype=bool)) >= 0.93


def test_ranks_of_ranges_hold_every_order_that_is_possible() -> None:
    """What may be 0.2 or 0.9 has no place of its own; what is above all others in any case stays first."""
    low = sample_of({"a": [1.0] * 90, "b": [0.2] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    high = sample_of({"a": [1.0] * 90, "b": [0.9] * 90, "c": [0.5] * 90, "d": [0.3] * 90})
    found = ranks(low.scores(), differences((low,), (high,)).better)
    assert [(one.rank, one.low, one.high) for one in found if one] == [
        (1, 1, 1),
        (4, 2, 4),
        (2, 2, 3),
        (3, 3, 4),
    ]
    within = drawn_ranks(low.scores()[None, :], high.scores()[None, :])
    assert within.best.tolist() == [[1, 2, 2, 3]] and within.worst.tolist() == [[1, 4, 3, 4]]


def test_a_shift_of_a_range_needs_every_score_that_is_possible() -> None:
    """Last by the baseline; here first with its lower end alone, or only with its upper one."""
    base = drawn_ranks(np.tile([3.0, 2.0, 1.0], (100, 1)))
    scores = np.array([0.2, 0.3, 0.5])
    for lowest, rises in ((0.5, True), (0.25, False)):
        low = np.tile([0.2, 0.3, lowest], (100, 1))
        here = drawn_ranks(low, np.tile([0.2, 0.3, 0.9], (100, 1)))
        found = rank_shifts(scores, here, np.array([3.0, 2.0, 1.0]), base)[2]
        assert found is not None and (found.shift, found.significant) == (2, rises)


def test_models_that_tasks_cannot_tell_apart_share_a_tier() -> None:
    """52 and 50 of 100 share tier 1; 10 of 100 is tier 2."""
    rng = np.random.default_rng(2)
    close = [list((rng.permutation(100) < solved).astype(float)) for solved in (52, 50)]
    sample = sample_of({"a": close[0], "b": close[1], "c": [1.0] * 10 + [0.0] * 90})
    assert tiers([sample], sample.scores()) == [1, 1, 2]


def test_tiers_are_numbered_from_the_best() -> None:
    """Three models, each far from the next: three tiers, whatever their order in the table."""
    sample = sample_of({"low": [0.0] * 60, "high": [1.0] * 60, "middle": [1.0] * 30 + [0.0] * 30})
    assert tiers([sample], sample.scores()) == [3, 1, 2]


def test_models_of_one_score_share_a_tier_whatever_their_names() -> None:
    """Both are ten tasks behind the leader: one fails what it fails and ten more, one fails other tasks."""
    leader = [1.0] * 60 + [0.0] * 40
    surely_worse, perhaps_worse = [1.0] * 50 + [0.0] * 50, [0.0] * 50 + [1.0] * 50
    for names in (("b", "c"), ("c", "b")):
        table = {"a": leader, names[0]: surely_worse, names[1]: perhaps_worse}
        sample = sample_of(dict(sorted(table.items())))
        assert tiers([sample], sample.scores()) == [1, 2, 2]


def test_a_model_without_a_score_has_no_tier() -> None:
    """Nan stands outside."""
    sample = sample_of({"a": [1.0] * 5, "b": [math.nan] * 5})
    assert tiers([sample], sample.scores()) == [1, None]


def test_few_tasks_make_one_tier() -> None:
    """Three tasks prove nothing, not even all against none."""
    sample = sample_of({"a": [1.0] * 3, "b": [0.0] * 3})
    assert tiers([sample], sample.scores()) == [1, 1]


def test_a_model_that_is_best_everywhere_is_first_in_all_weightings() -> None:
    """Dominance needs no weights."""
    found = wins_by_weighting(np.array([[100.0, 100, 100], [50, 50, 50], [0, 0, 0]]))
    assert found.tolist() == [1.0, 0.0, 0.0]


def test_two_specialists_share_the_weightings() -> None:
    """Each is first where its own discipline weighs more; in the balance half each: the shares sum to one."""
    found = wins_by_weighting(np.array([[100.0, 0.0], [0.0, 100.0]]))
    assert found.tolist() == pytest.approx([0.5, 0.5])


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
    rng = np.random.default_rng(23)
    solved = {"a": 90, "b": 88, "c": 60}
    strong = {name: list((rng.permutation(100) < count).astype(float)) for name, count in solved.items()}
    few = sample_of(strong)
    many = sample_of(strong | {str(place): [0.0] * 100 for place in range(40)})
    assert tiers([few], few.scores()) == [1, 1, 2]
    assert tiers([many], many.scores()) == [1, 1, 2, *[3] * 40]


def test_ranges_that_overlap_make_one_tier() -> None:
    """0.2 to 0.9 may be as good as 0.8; known exactly, 0.2 is worse."""
    low, high = sample_of({"a": [0.8] * 90, "b": [0.2] * 90}), sample_of({"a": [0.8] * 90, "b": [0.9] * 90})
    assert tiers([low], low.scores()) == [1, 2]
    assert tiers([low], low.scores(), [high]) == [1, 1]
