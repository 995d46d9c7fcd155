"""The overall index on tables whose true abilities are known, and what the method page says of its check."""

import html
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import spearmanr

from triathlon_site.build import build
from triathlon_site.overall_index import Cells, compute_index, years

ROOT = Path(__file__).parents[2]
THREE = np.full(3, 300.0)


def simulated(
    models: int, seed: int, *, trend: float = 0.0, missing: float = 0.4
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """True abilities, scores with empty cells, and release dates in years."""
    random = np.random.default_rng(seed)
    released = random.uniform(2021, 2026, models)
    theta = random.normal(size=models) + trend * (released - released.mean()) / released.std()
    share = expit(np.array([0.8, 0.5, 0.6]) * theta[:, None] - np.array([0.3, 0.0, 1.0]))
    scores = random.binomial(300, share) / 300
    for row in scores:
        row[random.permutation(3)[: random.integers(0, 3)] if random.random() < missing else []] = np.nan
    return theta, scores, released


def test_intervals_hold_the_true_ability() -> None:
    """At least 93 % of the 95 % intervals; and the index orders the models by the ability."""
    held = []
    for seed in range(4):
        theta, scores, released = simulated(60, seed)
        rows = compute_index(scores, THREE, released).rows
        assert spearmanr([row.value for row in rows], theta).statistic > 0.93
        assert sorted(row.rank.rank for row in rows) == list(range(1, 61))
        points = 50 + 10 * (theta - theta.mean()) / theta.std()
        held += [row.low <= point <= row.high for row, point in zip(rows, points, strict=True)]
    assert np.mean(held) >= 0.93


def test_a_model_with_one_column_has_a_wider_interval() -> None:
    """Of two models with the same single score, that of the time of better models is placed higher."""
    _, scores, released = simulated(80, 5, trend=1.5, missing=0.0)
    scores[:2] = [[0.6, np.nan, np.nan]] * 2
    released[:2] = [2021.5, 2025.5]
    rows = compute_index(scores, THREE, released).rows
    assert (rows[0].columns, rows[2].columns) == (1, 3)
    assert rows[0].high - rows[0].low > np.median([row.high - row.low for row in rows[2:]])
    assert rows[1].value > rows[0].value


def test_the_order_of_models_changes_nothing() -> None:
    """Each model's row is the same, to the last digit; one without scores is the caller's mistake."""
    _, scores, released = simulated(40, 7)
    turned = compute_index(scores[::-1], THREE, released[::-1]).rows
    assert compute_index(scores, THREE, released).rows == turned[::-1]
    scores[0] = np.nan
    with pytest.raises(ValueError, match="every model"):
        compute_index(scores, THREE, released)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("models", "columns"), [(1, 1), (2, 1), (2, 3), (3, 2), (5, 3)])
@pytest.mark.parametrize("month", ["", "2025-03"])
def test_equal_models_are_all_at_the_centre(share: float, models: int, columns: int, month: str) -> None:
    """50, with an interval that a reader believes, and rank 1 shared by all."""
    scores, released = np.full((models, columns), share), np.full(models, years(month))
    rows = compute_index(scores, np.full(columns, 164.0), released).rows
    assert {row.value for row in rows} == {50.0}
    assert all(0 < row.low < 50 < row.high < 100 for row in rows)
    assert {(row.rank.rank, row.rank.tied) for row in rows} == {(1, models > 1)}


def test_equal_models_among_others_share_their_row() -> None:
    """The next model's rank counts both. Of some models alone ranks count these; values stay."""
    scores = np.array([[0.9, 0.8], [0.5, 0.4], [0.1, 0.2], [0.5, 0.4]])
    whole = compute_index(scores, np.full(2, 100.0), np.full(4, np.nan))
    rows = whole.rows
    assert rows[1] == rows[3]
    assert [(row.rank.rank, row.rank.tied) for row in rows] == [(1, False), (2, True), (4, False), (2, True)]
    some = whole.among([1, 2])
    assert [row.rank.rank for row in some.rows] == [1, 2]
    assert [row.value for row in some.rows] == [rows[1].value, rows[2].value]
    assert some.draws.shape == (len(whole.draws), 2) and max(row.rank.high for row in some.rows) <= 2


@pytest.mark.parametrize("month", [f"2025-{number:02d}" for number in range(1, 13)])
def test_models_of_one_month_have_no_date(month: str) -> None:
    """A rounding error in the mean of equal dates is not a standard deviation. A date is a month's middle."""
    assert math.isnan(years("")) and years("2025") == 2025.5 and years(f"{month}-28") == years(month)
    assert years(month) == pytest.approx(2025 + (int(month[-2:]) - 0.5) / 12)
    for models in (2, 3, 5, 6, 7, 10):
        cells = Cells.from_scores(np.full((models, 1), 0.5), np.array([100.0]), np.full(models, years(month)))
        assert np.abs(cells.dates).max() < 1e-6


@pytest.mark.slow
def test_the_method_page_has_the_figures_of_the_check(tmp_path: Path) -> None:
    """Errors, correlations and intervals are, rounded, what the benchmark prints of the committed results."""
    build(ROOT / "results", tmp_path / "_site", None, cache=tmp_path / "cache")
    command = [sys.executable, "benchmarks/index.py", str(tmp_path / "_site/data/all-snapshots.csv")]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rules = re.findall(r"error (\S+) points, Spearman (\S+)", printed)
    held = re.search(r"hold: (\S+) %", printed)
    assert held and len(rules) == 3
    page = re.sub(r"<[^>]+>", "", html.unescape((tmp_path / "_site/method.html").read_text()))
    said = re.search(r"Checked by leaving out.*?intervals hold", page, re.DOTALL)
    assert said
    errors = [text for error, rho in rules for text in (f"{float(error):.0f}", f"{float(rho):.2f}")]
    numbers = re.findall(r"\d+(?:\.\d+)?", said[0].replace("95 % prediction", ""))
    assert numbers == [*errors, f"{float(held[1]):.0f}"]
