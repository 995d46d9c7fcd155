"""Tiers and weightings."""

import math

import numpy as np
import pytest

from support.statistics import sample_of
from triathlon_site.ranking import tiers, wins_by_weighting


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
