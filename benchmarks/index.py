"""How well the overall index predicts a score that it has not seen, beside two simpler rules.

    python benchmarks/index.py TABLE [--draws N]

TABLE is a CSV file with a line for each model: `model`, `released` (2024-11, or 2024; may be empty) and one
field for each column of `IN_INDEX`, scores in 0..1, empty where there is none, and may have a field `…_tasks`
beside it, the independent tasks that the score rests on where they are not those of the column. `triathlon
build` writes it as `_site/data/all-snapshots.csv`.
Each cell of a model with two or more, in a column that two other models have, is left out in turn, everything
is fitted anew, and the cell predicted.
Prints the mean absolute error in points, Spearman's correlation with the truth and the share of cells inside
their 95 % prediction interval. Exit code 1 where the index does not beat both rules or fewer than 93 % of the
intervals hold.
"""

import argparse
import csv
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import spearmanr

from triathlon_site.overall_index import (
    FREEDOM,
    GRID,
    Array,
    Cells,
    Columns,
    abilities,
    fit_columns,
    years,
)
from triathlon_site.pages.all_models import IN_INDEX


def predict_scores(
    columns: Columns, posterior: Array, column: int, tasks: int, random: np.random.Generator, draws: int
) -> Array:
    """Scores in 0..1 that a model with this posterior, shape (grid,), may have in a column of `tasks`
    tasks.
    """
    ability = random.choice(GRID, size=draws, p=posterior)
    scatter = columns.scatters[column] * random.standard_t(FREEDOM, size=draws)
    share = expit(columns.slopes[column] * ability - columns.offsets[column] + scatter)
    return np.asarray(random.binomial(tasks, share) / tasks)


def read_table(path: Path) -> tuple[Array, Array, Array]:
    """Scores and their numbers of tasks, shape (models, columns), and release dates in years."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    scores = [[float(row[column.id] or "nan") for column in IN_INDEX] for row in rows]
    tasks = [[float(row.get(f"{column.id}_tasks") or column.tasks) for column in IN_INDEX] for row in rows]
    return np.array(scores), np.array(tasks), np.array([years(row["released"]) for row in rows])


def predictable_cells(scores: Array) -> list[tuple[int, int]]:
    """Model and column of each cell that can be predicted: the model has another, the column two others."""
    known = ~np.isnan(scores)
    predictable = known & (known.sum(axis=1, keepdims=True) > 1) & (known.sum(axis=0) > 2)
    return [(int(model), int(column)) for model, column in np.argwhere(predictable)]


def by_index(scores: Array, tasks: Array, released: Array, draws: int) -> Array:
    """Left-out cells: truth, median of the prediction, lower and upper end; shape (cells, 4)."""
    start = fit_columns(Cells.from_scores(scores, tasks, released))
    random = np.random.default_rng(0)
    rows = []
    for model, column in predictable_cells(scores):
        without = scores.copy()
        without[model, column] = np.nan
        left = Cells.from_scores(without, tasks, released)
        columns = fit_columns(left, start)
        posterior = abilities(columns, left)[model]
        predicted = predict_scores(columns, posterior, column, int(tasks[model, column]), random, draws)
        rows.append([scores[model, column], *np.quantile(predicted, [0.5, 0.025, 0.975])])
    return np.array(rows)


def by_percentile(known: Array, column: int) -> float:
    """The score at the mean percentile that the model has in its other columns; `known` ends with its row."""
    places = [
        np.mean((values < values[-1]) + 0.5 * (values == values[-1]))
        for values in (scores[~np.isnan(scores)] for scores in known.T if not np.isnan(scores[-1]))
    ]
    return float(np.nanquantile(known[:, column], np.mean(places)))


def by_z_score(known: Array, column: int) -> float:
    """The score at the mean z-score that the model has in its other columns; `known` ends with its row."""
    means, spreads = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    with np.errstate(invalid="ignore"):  # a column of one model has no spread, and says nothing
        places = (known[-1] - means) / spreads
    return float(means[column] + spreads[column] * np.nanmean(places))


def by_rule(scores: Array, rule: Callable[[Array, int], float]) -> Array:
    """Left-out cells: truth and prediction; shape (cells, 2)."""
    rows = []
    for model, column in predictable_cells(scores):
        known = np.vstack([np.delete(scores, model, axis=0), scores[model]])
        known[-1, column] = np.nan
        rows.append([scores[model, column], rule(known, column)])
    return np.array(rows)


def error(cells: Array) -> float:
    """Mean absolute error, in points of 100."""
    return float(100 * np.mean(np.abs(cells[:, 0] - cells[:, 1])))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("--draws", type=int, default=4000, help="draws of a prediction")
    options = parser.parse_args()
    scores, tasks, released = read_table(options.table)
    index = by_index(scores, tasks, released, options.draws)
    rules = {
        "index": index,
        "mean percentile": by_rule(scores, by_percentile),
        "mean z-score": by_rule(scores, by_z_score),
    }
    print(f"{len(scores)} models, {int((~np.isnan(scores)).sum())} cells, {len(index)} left out in turn")
    for name, cells in rules.items():
        rho = spearmanr(cells[:, 0], cells[:, 1]).statistic
        print(f"{name:16} mean absolute error {error(cells):.2f} points, Spearman {rho:.3f}")
    held = np.mean((index[:, 0] >= index[:, 2]) & (index[:, 0] <= index[:, 3]))
    print(f"95 % prediction intervals that hold: {100 * held:.1f} %")
    best_rule = min(error(cells) for name, cells in rules.items() if name != "index")
    return int(error(index) >= best_rule or held < 0.93)


if __name__ == "__main__":
    sys.exit(main())
