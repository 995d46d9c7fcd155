"""ASL and its relatives (EVALOOOP, equations 1 to 5), recomputable from records alone."""

import csv
import math
from pathlib import Path
from typing import Any

import pytest

from support.asl import asl
from support.hashes import hashes
from triathlon_runner import loop
from triathlon_runner.records import EvolvedRecord, LoopRecord, Outcome, Reply

PAPER = {metric.id: metric for metric in loop.metrics(10)}
PUBLISHED = Path(__file__).resolve().parents[3] / "results/published"
UNIT: dict[str, Any] = {"suite": "loop/test", "model": "m", "protocol": hashes("p")}


def record(task: str, sustained: int, similarity: float | None = None, max_loops: int = 10) -> LoopRecord:
    return LoopRecord(
        **UNIT,
        task_id=task,
        outcome=Outcome.PASSED if sustained == max_loops else Outcome.FAILED,
        max_loops=max_loops,
        sustained_loops=sustained,
        loops=(),
        similarity=similarity,
    )


def test_asl_is_the_papers_equation() -> None:
    """ASL = Σ n_i · i² · s_i / (M · T); its lower end, what is sure, stands on the overall board."""
    records = [record("a", 2, 0.5), record("b", 2, 1.0), record("c", 5, 0.0), record("d", 10), record("e", 0)]
    s_2 = ((1 + 0.5) / 2 + (1 + 1.0) / 2) / 2
    s_5 = (4 + 0.0) / 5
    expected = (2 * 2**2 * s_2 + 1 * 5**2 * s_5 + 1 * 10**2 * 1.0) / (10 * 5)
    assert asl(records) == pytest.approx((expected, expected))
    counts = [1, 0, 2, 0, 0, 1, 0, 0, 0, 0, 1]
    assert loop.asl_of_counts(counts, 10) == pytest.approx((2 * 2**2 + 1 * 5**2 + 1 * 10**2) / (10 * 5))
    assert [metric.id for metric in PAPER.values() if metric.headline] == ["asl_low"]
    assert [metric.id for metric in loop.metrics(1)] == ["pass_at_1"]


def test_unknown_similarities_span_an_interval() -> None:
    """S = 0 and s = 1 are its ends; a known similarity of the same tasks lies between them."""
    unknown = [record("a", 1), record("b", 4), record("c", 10)]
    low, high = asl(unknown)
    assert (low, high) == pytest.approx(((0 + 16 * 3 / 4 + 100) / 30, (1 + 16 + 100) / 30))
    assert low < asl([record("a", 1, 0.3), record("b", 4, 0.9), record("c", 10)])[0] < high


def test_extremes() -> None:
    """M is the record's own: translation has 5."""
    assert asl([record("a", 10), record("b", 10)]) == (10.0, 10.0)
    assert asl([record("a", 0)]) == (0.0, 0.0)
    assert math.isnan(asl([])[0])
    of_five = [record("a", 5, max_loops=5), record("b", 2, 1.0, max_loops=5)]
    assert asl(of_five)[0] == pytest.approx((25 + 4) / 10)


def test_curve_drop_and_pass_at_1() -> None:
    """The share of tasks with l >= j; another discipline's record is an error, not a number."""
    records = [record("a", 0), record("b", 1), record("c", 3), record("d", 10)]
    curve = ["pass_at_1", *(f"sustain_{j}" for j in range(2, 11))]
    assert [PAPER[point].score(records) for point in curve] == [0.75, 0.5, 0.5, *[0.25] * 7]
    assert PAPER["drop"].score(records) == 0.75 - 0.25
    asked = {"suite": "evolved/x", "task_id": "t", "prompt": "", "reply": Reply(text=""), "program": ""}
    other = EvolvedRecord(**{**UNIT, **asked}, outcome=Outcome.PASSED, verdict=None)
    with pytest.raises(TypeError, match="EvolvedRecord of suite 'evolved/x'"):
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
