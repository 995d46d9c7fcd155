"""Sensitivity, ranks and ASL of counts; what published scores give stands in tests/site/published/."""

import csv
import math
from pathlib import Path

import pytest

from triathlon_runner import loop

PUBLISHED = Path(__file__).resolve().parents[3] / "results/published"


def test_asl_from_published_counts() -> None:
    """Claude Opus 4's counts with s = 1 give 7.7865 (published 7.786).

    Of the 91 models with counts, 87 have their published ASL between the ends that s = 0 and s = 1 give. The
    other four cannot come from these counts: their pages show another run than the paper's table.
    """
    with (PUBLISHED / "evaloop.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["sustained_0"]]
    counts = {row["model"]: [int(row[f"sustained_{i}"]) for i in range(11)] for row in rows}
    low = {
        model: loop.asl_of_counts(n, 10, {i: (i - 1) / i for i in range(1, 10)})
        for model, n in counts.items()
    }
    high = {model: loop.asl_of_counts(n, 10) for model, n in counts.items()}
    assert round(high["Claude Opus 4"], 4) == 7.7865
    outside = {
        row["model"]
        for row in rows
        if not low[row["model"]] - 0.001 <= float(row["asl"]) <= high[row["model"]] + 0.001
    }
    assert len(rows) == 91
    assert outside == {
        "Qwen3-235B-A22B-Instruct-2507",
        "DeepSeek-Coder-V2-Instruct",
        "DeepSeek-Coder-V2-Lite-Instruct",
        "deepseek-coder-7b-instruct-v1.5",
    }


def test_ranks_share_the_smallest() -> None:
    """Equal scores share the smallest rank, and the next is counted on."""
    assert loop.ranks({"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}) == {"a": 1.0, "b": 2.0, "c": 2.0, "d": 4.0}


def test_only_models_with_every_variant_are_compared() -> None:
    """A model that lacks one variant is left out rather than guessed."""
    baseline = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5}
    variants = {"x": {"a": 3.0, "b": 2.0, "c": 1.0}, "y": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}}
    result = loop.sensitivity(baseline, variants)
    assert set(result.mean_ranks) == {"a", "b", "c"}


@pytest.mark.parametrize("models", [0, 1, 2])
def test_too_few_models_have_no_correlation(models: int) -> None:
    """Fewer than three models, or equal ones, give nan and no warning."""
    scores = {str(i): float(i) for i in range(models)}
    assert math.isnan(loop.sensitivity(scores, {"x": scores}).spearman)
    equal = {"a": 1.0, "b": 1.0, "c": 1.0}
    assert math.isnan(loop.sensitivity(equal, {"x": equal}).spearman)
