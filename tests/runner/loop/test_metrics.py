"""ASL and its relatives (EVALOOOP, equations 1 to 5), recomputable from records alone."""

import csv
import math
from pathlib import Path

import pytest

from support.asl import Interval, asl
from support.hashes import hashes
from triathlon_runner import loop
from triathlon_runner.records import EvolvedRecord, LoopRecord, Outcome, Reply

PAPER = loop.metrics(10)
PUBLISHED = Path(__file__).resolve().parents[3] / "results/published"


def record(task: str, sustained: int, similarity: float | None = None, max_loops: int = 10) -> LoopRecord:
    return LoopRecord(
        suite="loop/test",
        model="m",
        task_id=task,
        protocol=hashes("p"),
        outcome=Outcome.PASSED if sustained == max_loops else Outcome.FAILED,
        max_loops=max_loops,
        sustained_loops=sustained,
        loops=(),
        similarity=similarity,
    )


def score(metric_id: str, records: list[LoopRecord]) -> float:
    (metric,) = (metric for metric in PAPER if metric.id == metric_id)
    return metric.score(records)


def test_asl_is_the_papers_equation() -> None:
    """ASL = Σ n_i · i² · s_i / (M · T), with s_i the mean of the tasks' per-loop averages."""
    records = [record("a", 2, 0.5), record("b", 2, 1.0), record("c", 5, 0.0), record("d", 10), record("e", 0)]
    s_2 = ((1 + 0.5) / 2 + (1 + 1.0) / 2) / 2
    s_5 = (4 + 0.0) / 5
    expected = (2 * 2**2 * s_2 + 1 * 5**2 * s_5 + 1 * 10**2 * 1.0) / (10 * 5)
    span = asl(records)
    assert span.low == span.high == pytest.approx(expected)
    assert score("asl_low", records) == pytest.approx(expected)
    assert loop.asl_of_counts({0: 1, 2: 2, 5: 1, 10: 1}, 10, {2: s_2, 5: s_5}) == pytest.approx(expected)


def test_unknown_similarities_span_an_interval() -> None:
    """S = 0 and s = 1 are its ends; a known similarity of the same tasks lies between them."""
    unknown = [record("a", 1), record("b", 4), record("c", 10)]
    known = [record("a", 1, 0.3), record("b", 4, 0.9), record("c", 10)]
    span = asl(unknown)
    assert span.low == pytest.approx((0 + 16 * 3 / 4 + 100) / 30)
    assert span.high == pytest.approx((1 + 16 + 100) / 30)
    assert span.low < asl(known).low < span.high
    assert (score("asl_low", unknown), score("asl_high", unknown)) == pytest.approx((span.low, span.high))


def test_extremes() -> None:
    """All M gives M, none gives 0, no records give nan."""
    assert asl([record("a", 10), record("b", 10)]) == Interval(10.0, 10.0)
    assert asl([record("a", 0)]) == Interval(0.0, 0.0)
    assert math.isnan(asl([]).low)


def test_other_lengths_of_the_loop() -> None:
    """M is the record's own: the translation loop has 5."""
    assert asl([record("a", 5, max_loops=5), record("b", 2, 1.0, max_loops=5)]).low == pytest.approx(
        (25 + 4) / 10
    )


def test_curve_drop_and_pass_at_1() -> None:
    """The curve is the share of tasks with l >= j, pass@1 its first point, drop its first minus its last."""
    records = [record("a", 0), record("b", 1), record("c", 3), record("d", 10)]
    assert score("pass_at_1", records) == 0.75
    assert [score(f"sustain_{j}", records) for j in range(2, 11)] == [0.5, 0.5, *[0.25] * 7]
    assert score("drop", records) == 0.75 - 0.25


def test_one_headline() -> None:
    """ASL stands for the loop on the overall board, by its lower end: what is sure."""
    assert [metric.id for metric in PAPER if metric.headline] == ["asl_low"]
    assert [metric.id for metric in loop.metrics(1)] == ["pass_at_1"]


def test_another_disciplines_record_is_refused() -> None:
    """A metric over the wrong file is an error, not a number."""
    other = EvolvedRecord(
        suite="evolved/x",
        model="m",
        task_id="t",
        protocol=hashes("p"),
        outcome=Outcome.PASSED,
        prompt="",
        reply=Reply(text=""),
        program="",
        verdict=None,
    )
    with pytest.raises(TypeError, match="EvolvedRecord of suite 'evolved/x'"):
        PAPER[0].score([other])


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
