"""Sensitivity and rank shifts; from published scores they give the paper's figures."""

import csv
import math
import os
from pathlib import Path
from statistics import fmean

import pytest

from triathlon_runner import loop


def published(name: str) -> list[dict[str, str]]:
    """Rows of one table of published figures; skips where this machine has none."""
    data = os.environ.get("TRIATHLON_DATA")
    shared = Path(data).parent if data else Path(__file__).resolve().parents[4] / "shared"
    path = shared / "published" / name
    if not path.is_file():
        pytest.skip(f"needs the published figures: no file {str(path)!r}")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def column(rows: list[dict[str, str]], name: str) -> dict[str, float]:
    return {row["model"]: float(row[name]) for row in rows}


@pytest.mark.official
@pytest.mark.parametrize(
    ("table", "variants", "expected"),
    [
        ("evaloop_prompt_sensitivity.csv", [f"prompt_{i}" for i in range(1, 6)], 0.951),
        ("evaloop_temperature_sensitivity.csv", [f"t_0.{i}" for i in (2, 4, 6, 8)], 0.974),
    ],
)
def test_the_papers_sensitivities(table: str, variants: list[str], expected: float) -> None:
    """Spearman of baseline ranks with mean ranks, and the mean ranks (EVALOOOP, tables 3 and 4)."""
    rows = published(table)
    result = loop.sensitivity(column(rows, "baseline"), {name: column(rows, name) for name in variants})
    assert round(result.spearman, 3) == expected
    assert result.mean_ranks == pytest.approx(column(rows, "average_rank"))
    assert result.models == 13


@pytest.mark.official
def test_the_papers_rank_shifts() -> None:
    """88 of 96 shifted, by 6.9 on average, 27.1 % by ten or more, from -29 to +12 (EVALOOOP, section 4.2)."""
    rows = [row for row in published("evaloop_models.csv") if row["in_paper"] == "1"]
    pass_at_1, asl = column(rows, "pass_at_1"), column(rows, "asl")
    order = sorted(rows, key=lambda row: (-pass_at_1[row["model"]], -asl[row["model"]]))
    by_pass = {row["model"]: place for place, row in enumerate(order, 1)}  # the paper breaks ties by ASL
    shifts = {model: by_pass[model] - rank for model, rank in loop.ranks(asl).items()}
    values = shifts.values()
    sizes = [abs(shift) for shift in values]
    assert (len(sizes), sum(map(bool, sizes)), round(fmean(sizes), 1)) == (96, 88, 6.9)
    assert round(100 * sum(size >= 10 for size in sizes) / 96, 1) == 27.1
    assert (min(values), max(values)) == (-29, 12)
    assert shifts["Llama-4-Scout-17B-16E-Instruct"] == -29
    assert shifts["OpenCoder-8B-Instruct"] == 12


@pytest.mark.official
def test_shared_ranks_give_other_figures() -> None:
    """With equal pass@1 sharing the smallest rank, as in our tables, 90 models shift, by 7.1 on average."""
    rows = [row for row in published("evaloop_models.csv") if row["in_paper"] == "1"]
    by_pass, by_asl = loop.ranks(column(rows, "pass_at_1")), loop.ranks(column(rows, "asl"))
    sizes = [abs(by_pass[model] - rank) for model, rank in by_asl.items()]
    assert (sum(map(bool, sizes)), round(fmean(sizes), 1)) == (90, 7.1)


@pytest.mark.official
def test_asl_from_published_counts() -> None:
    """Claude Opus 4's counts with s = 1 give 7.7865 (published 7.786).

    Of the 91 models with counts, 87 have their published ASL between the ends that s = 0 and s = 1 give. The
    other four cannot come from these counts: their pages show another run than the paper's table.
    """
    rows = [row for row in published("evaloop_models.csv") if row["sustained_0"]]
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


@pytest.mark.official
def test_the_papers_attacks() -> None:
    """pass@1 under attack (EVALOOOP, table 1): structure fells deepseek-coder-7b, verbosity Qwen2.5-Coder."""
    rows = published("evaloop_attacks.csv")
    original = column(rows, "original")
    structured, redundant = (
        {model: after - original[model] for model, after in column(rows, name).items()}
        for name in ("structural_reformatting", "redundant_elaboration")
    )
    assert min(structured, key=structured.__getitem__) == "deepseek-coder-7b-instruct-v1.5"
    assert structured["deepseek-coder-7b-instruct-v1.5"] == pytest.approx(0.011 - 0.646)
    assert redundant["Qwen2.5-Coder-32B-Instruct"] == pytest.approx(0.545 - 0.762)


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
