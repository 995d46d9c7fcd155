"""Ranks, their intervals and shifts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from support.statistics import sample_of
from triathlon_site.ranking import midranks, percentiles, rank_draws, rank_shifts, ranks, smallest_ranks
from triathlon_site.uncertainty import draw


@given(st.lists(st.integers(0, 8), min_size=1, max_size=30))
def test_ties_share_the_smallest_rank(scores: list[int]) -> None:
    """Ranks are scipy's with method `min`, highest score first."""
    assert smallest_ranks([float(s) for s in scores]) == list(rankdata([-s for s in scores], method="min"))


def test_rounding_noise_makes_no_rank() -> None:
    """0.1 + 0.2 and 0.3 are one score."""
    assert smallest_ranks([0.1 + 0.2, 0.3, 0.1]) == [1, 1, 3]


def test_a_missing_score_takes_no_place() -> None:
    """A model without a score has no rank and pushes nobody down."""
    assert smallest_ranks([0.5, math.nan, 0.9]) == [2, None, 1]


def test_ranks_within_draws_are_those_of_scipy() -> None:
    """Each draw is ranked by itself, ties sharing the smallest rank."""
    draws = np.round(np.random.default_rng(1).random((50, 12)), 1)
    assert np.array_equal(rank_draws(draws), rankdata(-draws, method="min", axis=1))


def test_a_clear_leader_has_a_narrow_rank_interval() -> None:
    """The best of three, far ahead on 100 tasks, is first in every draw; two equal ones share 2 to 3."""
    rng = np.random.default_rng(5)
    middle = (rng.random(100) < 0.5).astype(float)
    sample = sample_of({"best": [1.0] * 100, "b": list(middle), "c": list(1 - middle)})
    found = ranks(sample.scores(), rank_draws(draw(sample)))
    assert found[0] is not None and (found[0].low, found[0].high) == (1, 1)
    assert found[1] is not None and (found[1].low, found[1].high) == (2, 3)


def test_a_tie_is_marked() -> None:
    """Two models of equal score share the rank, and both know it."""
    sample = sample_of({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.0, 0.0]})
    found = ranks(sample.scores(), rank_draws(draw(sample)))
    assert [(one.rank, one.tied) for one in found if one] == [(1, True), (1, True), (3, False)]


def test_a_shift_is_baseline_rank_minus_rank() -> None:
    """A model that is second by the baseline and first here has risen by one, significantly on 200 tasks."""
    here = sample_of({"a": [1.0] * 180 + [0.0] * 20, "b": [1.0] * 60 + [0.0] * 140})
    base = sample_of({"a": [1.0] * 60 + [0.0] * 140, "b": [1.0] * 180 + [0.0] * 20})
    found = rank_shifts(here.scores(), rank_draws(draw(here)), base.scores(), rank_draws(draw(base)))
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
            here.scores(), rank_draws(draw(here, 1000)), base.scores(), rank_draws(draw(base, 1000))
        )
        marked += [one.significant for one in found if one]
    assert np.mean(marked) <= 0.07


def test_a_shift_on_few_tasks_is_not_significant() -> None:
    """One task in five decides: the sign of the shift is not to be trusted."""
    here = sample_of({"a": [1.0, 0.0, 1.0, 0.0, 1.0], "b": [1.0, 0.0, 0.0, 0.0, 1.0]})
    base = sample_of({"a": [1.0, 0.0, 0.0, 0.0, 1.0], "b": [1.0, 0.0, 1.0, 0.0, 1.0]})
    found = rank_shifts(here.scores(), rank_draws(draw(here)), base.scores(), rank_draws(draw(base)))
    assert found[0] is not None and found[0].shift == 1 and not found[0].significant


def test_percentiles_are_the_share_of_others_beaten() -> None:
    """Best 100, worst 0, ties half each; alone 50."""
    assert percentiles([3.0, 1.0, 2.0]) == pytest.approx([100, 0, 50])
    assert percentiles([1.0, 1.0]) == pytest.approx([50, 50])
    assert percentiles([1.0]) == pytest.approx([50])


@given(st.lists(st.lists(st.integers(0, 5), min_size=7, max_size=7), min_size=1, max_size=5))
def test_midranks_are_those_of_scipy(rows: list[list[int]]) -> None:
    """Equals share the mean of their ranks, each row by itself."""
    assert midranks(np.array(rows, dtype=float)).tolist() == rankdata(rows, axis=1).tolist()
