"""ASL and its relatives (EVALOOOP, equations 1 to 5), recomputable from records alone."""

import csv
import math
from pathlib import Path
from typing import Any

import pytest

from support.asl import asl
from support.hashes import hashes
from triathlon_runner import loop
from triathlon_runner.records import LoopRecord, Outcome, UnitRecord

PAPER = {metric.id: metric for metric in loop.metrics(10)}
PUBLISHED = Path(__file__).resolve().parents[3] / "results/published"
UNIT: dict[str, Any] = {"suite": "loop/test", "model": "m", "task_id": "t", "protocol": hashes("p")}


def record(sustained: int, similarity: float | None = None, max_loops: int = 10) -> LoopRecord:
    return LoopRecord(
        **UNIT,
        outcome=Outcome.PASSED if sustained == max_loops else Outcome.FAILED,
        max_loops=max_loops,
        sustained_loops=sustained,
        loops=(),
        similarity=similarity,
    )


S_2, S_5 = ((1 + 0.5) / 2 + (1 + 1.0) / 2) / 2, (4 + 0.0) / 5
JUDGED = (2 * 2**2 * S_2 + 1 * 5**2 * S_5 + 1 * 10**2 * 1.0) / (10 * 5)


@pytest.mark.parametrize(
    ("records", "low", "high"),
    [
        ([record(2, 0.5), record(2, 1.0), record(5, 0.0), record(10), record(0)], JUDGED, JUDGED),
        ([record(1), record(4), record(10)], (0 + 16 * 3 / 4 + 100) / 30, (1 + 16 + 100) / 30),
        ([record(10), record(10)], 10.0, 10.0),
        ([record(0)], 0.0, 0.0),
        ([record(5, max_loops=5), record(2, 1.0, max_loops=5)], (25 + 4) / 10, (25 + 4) / 10),
        ([], math.nan, math.nan),
    ],
)
def test_asl_is_the_papers_equation(records: list[LoopRecord], low: float, high: float) -> None:
    """ASL = Σ n_i · i² · s_i / (M · T), M as recorded; unknown similarities span it from s = 0 to s = 1."""
    assert asl(records) == pytest.approx((low, high), nan_ok=True)


def test_curve_drop_and_pass_at_1() -> None:
    """The share of tasks with l >= j; another discipline's record is an error, not a number."""
    records = list(map(record, (0, 1, 3, 10), (None, None, 0.5, None)))
    curve = ["pass_at_1", *(f"sustain_{j}" for j in range(2, 11))]
    assert [PAPER[point].score(records) for point in curve] == [0.75, 0.5, 0.5, *[0.25] * 7]
    assert PAPER["drop"].score(records) == 0.75 - 0.25
    assert PAPER["loops"].score(records) == (0 + 1 + 3 + 10) / 4
    assert PAPER["asl_same"].score(records) == pytest.approx((1 + 9 + 100) / 10 / 4)
    assert PAPER["asl_solved"].score(records) == pytest.approx((1 + 9 + 100) / 10 / 3)
    assert [metric.id for metric in PAPER.values() if metric.headline] == ["asl_low"]
    assert [metric.id for metric in loop.metrics(1)] == ["pass_at_1"]
    other = UnitRecord(**UNIT, outcome=Outcome.PASSED)
    with pytest.raises(TypeError, match="UnitRecord of suite 'loop/test'"):
        PAPER["pass_at_1"].score([other])


def test_asl_from_published_counts() -> None:
    """87 of 91 published ASLs lie between the ends; the others are of another run than the paper's table."""
    with (PUBLISHED / "evaloop.csv").open(newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file) if row["sustained_0"]}
    outside = set()
    for model, row in rows.items():
        counts = [int(row[f"sustained_{i}"]) for i in range(11)]
        high = loop.asl_of_counts(counts, 10)
        low = high - sum(i * counts[i] for i in range(1, 10)) / (10 * sum(counts))  # s_i = (i - 1) / i
        assert model != "Claude Opus 4" or round(high, 4) == 7.7865
        if not low - 0.001 <= float(row["asl"]) <= high + 0.001:
            outside.add(model)
    assert len(rows) == 91 and "Claude Opus 4" in rows
    assert outside == {
        "Qwen3-235B-A22B-Instruct-2507",
        "DeepSeek-Coder-V2-Instruct",
        "DeepSeek-Coder-V2-Lite-Instruct",
        "deepseek-coder-7b-instruct-v1.5",
    }
