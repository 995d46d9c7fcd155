"""What variants do to measured scores, on the tasks that both sides have."""

import math
from collections import Counter

import pytest

from triathlon_runner.metrics import Contribution
from triathlon_site.sensitivity import ByModel, compare, scores_before_and_after, sensitivity

Scores = dict[str, dict[str, float]]
"""By model and task."""
BASELINE: Scores = {
    "a": {"x": 10, "y": 8},
    "b": {"x": 7, "y": 6},
    "c": {"x": 3, "y": 2},
    "d": {"x": 1, "y": 0},
}


def by_model(*samples: Scores) -> ByModel:
    """What a reader of the results keeps of them; each sample of a task is a contribution."""
    return {
        model: [Contribution(task, n, 1) for scores in samples for task, n in scores[model].items()]
        for model in samples[0]
    }


def test_ranks_that_hold_correlate_fully() -> None:
    """Where every variant orders the models as the baseline does, Spearman is 1 and mean ranks are ranks."""
    lower = {model: {task: max(0, n - 1) for task, n in own.items()} for model, own in BASELINE.items()}
    found = compare(by_model(BASELINE), {"upper": by_model(lower), "detailed": by_model(BASELINE)})
    assert found.sensitivity.spearman == pytest.approx(1)
    assert found.sensitivity.mean_ranks == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert (found.tasks, found.left_out) == (2, {})
    assert (found.baseline["a"], found.variants["upper"]["a"]) == pytest.approx((9, 8))


def test_ranks_that_turn_round_say_so() -> None:
    """Reversed in one variant and kept in the other, every mean rank is the same: no correlation."""
    turned = by_model(dict(zip(BASELINE, reversed(BASELINE.values()), strict=True)))
    assert compare(by_model(BASELINE), {"upper": turned}).sensitivity.spearman == pytest.approx(-1)
    both = compare(by_model(BASELINE), {"upper": turned, "detailed": by_model(BASELINE)})
    assert math.isnan(both.sensitivity.spearman)
    assert set(both.sensitivity.mean_ranks.values()) == {2.5}


def test_models_are_compared_on_the_tasks_that_all_of_them_have() -> None:
    """A model that ran fewer tasks under a variant does not win by having left out the hard ones."""
    variant = {**BASELINE, "c": {"x": 3.0}}
    found = compare(by_model(BASELINE), {"upper": by_model(variant)})
    assert found.tasks == 1
    assert found.baseline["c"] == found.variants["upper"]["c"] == 3


def test_a_model_without_a_variant_is_left_out_by_name() -> None:
    """It is listed with what it lacks; a variant that nobody ran leaves nobody out."""
    variant = {model: own for model, own in BASELINE.items() if model != "b"}
    variants = {"upper": by_model(variant), "detailed": by_model(BASELINE), "redundant": {}}
    found = compare(by_model(BASELINE), variants)
    assert found.left_out == {"b": ("upper",)}
    assert (set(found.baseline), set(found.variants)) == ({"a", "c", "d"}, {"upper", "detailed"})


@pytest.mark.parametrize(
    ("baseline", "variants"),
    [
        (BASELINE, {}),
        (BASELINE, {"upper": {}}),
        ({"a": {"x": 1.0}, "b": {"y": 1.0}, "c": {"z": 1.0}}, {"upper": {"a": {"x": 1.0}}}),
        ({"a": {"x": 1.0}}, {"upper": {"a": {"y": 1.0}}}),
    ],
)
def test_without_variants_or_shared_tasks_there_is_no_correlation(
    baseline: Scores, variants: dict[str, Scores]
) -> None:
    """Nothing to compare: nan, and no error."""
    found = compare(by_model(baseline), {name: by_model(scores) for name, scores in variants.items()})
    assert math.isnan(found.sensitivity.spearman)


def test_only_models_with_every_variant_are_compared() -> None:
    """A model that lacks one variant is left out rather than guessed; ties share the smallest rank."""
    baseline = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0, "e": 0.5}
    variants = {"x": dict.fromkeys("abcd", 1.0), "y": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 0.0}}
    result = sensitivity(baseline, variants)
    assert result.baseline_ranks == {"a": 1, "b": 2, "c": 2, "d": 4}
    assert set(result.mean_ranks) == {"a", "b", "c", "d"}


@pytest.mark.parametrize("scores", [{}, {"a": 1.0}, {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 1.0, "c": 1.0}])
def test_too_few_models_have_no_correlation(scores: dict[str, float]) -> None:
    """Fewer than three models, or equal ones, give nan and no warning."""
    assert math.isnan(sensitivity(scores, {"x": scores}).spearman)


def test_an_attack_changes_each_model_by_itself() -> None:
    """pass@1 before and after, on the tasks that a model has on both sides; without any nothing is said."""
    tasks = [f"t{n}" for n in range(10)]
    before = {
        "a": dict.fromkeys(tasks, 1.0),
        "b": {task: float(task < "t5") for task in tasks},
        "c": {"x": 1.0},
    }
    after = {"a": {task: float(task > "t7") for task in tasks}, "b": {"t0": 0.0, "t9": 1.0}, "c": {"y": 1.0}}
    scores = scores_before_and_after(by_model(before), by_model(after))
    assert Counter(scores["a"].values()) == {(1.0, 0.0): 8, (1.0, 1.0): 2}
    assert scores["b"] == {"t0": (1.0, 0.0), "t9": (0.0, 1.0)}
    assert "c" not in scores


def test_repeated_samples_count_once_a_task() -> None:
    """Two samples of one task are one task, scored by their mean."""
    twice = by_model({"a": {"x": 1, "y": 1}}, {"a": {"x": 0, "y": 1}})
    scores = scores_before_and_after(by_model({"a": {"x": 1, "y": 1}}), twice)
    assert scores == {"a": {"x": (1.0, 0.5), "y": (1.0, 1.0)}}
