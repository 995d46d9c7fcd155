"""What variants do to measured scores, from lines of results alone, on the tasks that both sides have."""

import math
from collections import Counter
from collections.abc import Sequence

import pytest

from support.hashes import hashes
from triathlon_runner import loop
from triathlon_runner.loop import ByModel
from triathlon_runner.records import LoopRecord, Outcome

METRICS = {metric.id: metric for metric in (*loop.metrics(10), *loop.metrics(1))}


def lines(sustained: dict[str, int], max_loops: int = 10, sample: int = 0) -> list[LoopRecord]:
    """One model's records from loops sustained by task, with similarity 1."""
    return [
        LoopRecord(
            suite="loop/test",
            model="m",
            task_id=task,
            sample=sample,
            protocol=hashes("p"),
            outcome=Outcome.PASSED if loops == max_loops else Outcome.FAILED,
            max_loops=max_loops,
            sustained_loops=loops,
            loops=(),
            similarity=1.0 if 0 < loops < max_loops else None,
        )
        for task, loops in sustained.items()
    ]


def by_model(metric: str, records: dict[str, Sequence[LoopRecord]]) -> ByModel:
    """What a reader of the results keeps of them; read back from their JSON."""
    read = {
        model: [LoopRecord.model_validate_json(line.model_dump_json(by_alias=True)) for line in own]
        for model, own in records.items()
    }
    return {model: METRICS[metric].contributions(own) for model, own in read.items()}


def asl(sustained: dict[str, dict[str, int]]) -> ByModel:
    return by_model("asl_low", {model: lines(own) for model, own in sustained.items()})


def first(solved: dict[str, dict[str, int]]) -> ByModel:
    return by_model("pass_at_1", {model: lines(own, 1) for model, own in solved.items()})


BASELINE = {"a": {"x": 10, "y": 8}, "b": {"x": 7, "y": 6}, "c": {"x": 3, "y": 2}, "d": {"x": 1, "y": 0}}


def test_ranks_that_hold_correlate_fully() -> None:
    """Where every variant orders the models as the baseline does, Spearman is 1 and mean ranks are ranks."""
    lower = {model: {task: max(0, n - 1) for task, n in own.items()} for model, own in BASELINE.items()}
    found = loop.compare(asl(BASELINE), {"upper": asl(lower), "detailed": asl(BASELINE)})
    assert found.sensitivity.spearman == pytest.approx(1)
    assert found.sensitivity.mean_ranks == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert (found.tasks, found.left_out) == (2, {})
    assert found.baseline["a"] == pytest.approx((100 + 64) / 20)
    assert found.variants["upper"]["a"] == pytest.approx((81 + 49) / 20)


def test_ranks_that_turn_round_say_so() -> None:
    """Reversed in one variant and kept in the other, every mean rank is the same: no correlation."""
    reversed_ = dict(zip(BASELINE, reversed(BASELINE.values()), strict=True))
    turned = loop.compare(asl(BASELINE), {"upper": asl(reversed_)})
    assert turned.sensitivity.spearman == pytest.approx(-1)
    both = loop.compare(asl(BASELINE), {"upper": asl(reversed_), "detailed": asl(BASELINE)})
    assert math.isnan(both.sensitivity.spearman)
    assert set(both.sensitivity.mean_ranks.values()) == {2.5}


def test_models_are_compared_on_the_tasks_that_all_of_them_have() -> None:
    """A model that ran fewer tasks under a variant does not win by having left out the hard ones."""
    variant = {model: dict(own) for model, own in BASELINE.items()}
    del variant["c"]["y"]
    found = loop.compare(asl(BASELINE), {"upper": asl(variant)})
    assert found.tasks == 1
    assert found.baseline["c"] == found.variants["upper"]["c"] == pytest.approx(9 / 10)


def test_a_model_without_a_variant_is_left_out_by_name() -> None:
    """It is listed with what it lacks; a variant that nobody ran leaves nobody out."""
    variant = {model: own for model, own in BASELINE.items() if model != "b"}
    found = loop.compare(asl(BASELINE), {"upper": asl(variant), "detailed": asl(BASELINE), "redundant": {}})
    assert found.left_out == {"b": ("upper",)}
    assert set(found.baseline) == {"a", "c", "d"}
    assert set(found.variants) == {"upper", "detailed"}


@pytest.mark.parametrize("variants", [{}, {"upper": {}}])
def test_without_variants_there_is_no_correlation(variants: dict[str, ByModel]) -> None:
    """Nothing was run: nan, and no error."""
    found = loop.compare(asl(BASELINE), variants)
    assert math.isnan(found.sensitivity.spearman)
    assert found.variants == {}


def test_without_a_shared_task_there_is_no_correlation() -> None:
    """Models over different tasks have nothing to be compared on."""
    found = loop.compare(asl({"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 1}}), {"upper": asl({"a": {"x": 1}})})
    assert math.isnan(found.sensitivity.spearman)
    assert found.left_out == {"b": ("upper",), "c": ("upper",)}
    other = loop.compare(asl({"a": {"x": 1}}), {"upper": asl({"a": {"y": 1}})})
    assert (other.tasks, other.baseline) == (0, {})


def test_an_attack_changes_each_model_by_itself() -> None:
    """pass@1 before and after, on the tasks that a model has on both sides."""
    tasks = [f"t{n}" for n in range(10)]
    before = {"a": dict.fromkeys(tasks, 1), "b": dict.fromkeys(tasks[:5], 1) | dict.fromkeys(tasks[5:], 0)}
    after = {"a": dict.fromkeys(tasks[:8], 0) | dict.fromkeys(tasks[8:], 1), "b": {"t0": 0, "t9": 1}}
    scores = loop.scores_before_and_after(first(before), first(after))
    assert Counter(scores["a"].values()) == {(1.0, 0.0): 8, (1.0, 1.0): 2}
    assert scores["b"] == {"t0": (1.0, 0.0), "t9": (0.0, 1.0)}


def test_the_baseline_of_an_attack_is_the_first_program_of_its_loops() -> None:
    """A loop suite's pass@1 is what an attack is held against: both count the first program alone."""
    baseline = by_model("pass_at_1", {"a": lines({"x": 10, "y": 1, "z": 0})})
    scores = loop.scores_before_and_after(baseline, first({"a": {"x": 1, "y": 0, "z": 0}}))
    assert scores == {"a": {"x": (1.0, 1.0), "y": (1.0, 0.0), "z": (0.0, 0.0)}}


def test_repeated_samples_count_once_a_task() -> None:
    """Five samples of one task are one task, scored by their mean."""
    twice = by_model("pass_at_1", {"a": [*lines({"x": 1, "y": 1}, 1), *lines({"x": 0, "y": 1}, 1, sample=1)]})
    scores = loop.scores_before_and_after(first({"a": {"x": 1, "y": 1}}), twice)
    assert scores == {"a": {"x": (1.0, 0.5), "y": (1.0, 1.0)}}


def test_models_without_a_shared_task_have_no_change() -> None:
    """Nothing is said of a model that only one side has."""
    assert loop.scores_before_and_after(first({"a": {"x": 1}}), first({"a": {"y": 1}, "b": {"x": 1}})) == {}


def test_every_kind_of_variant_names_its_metrics() -> None:
    """The catalogue's kinds of variants and the metrics that they are compared in belong together."""
    entries = loop.catalogue()
    assert set(loop.COMPARED) == {entry.variant_kind for entry in entries} - {None}
    for entry in entries:
        own = {metric.id for metric in entry.metrics}
        if entry.variant_kind:
            assert own.issuperset(loop.COMPARED[entry.variant_kind])
