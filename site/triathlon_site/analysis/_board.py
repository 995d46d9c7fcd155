"""Boards: pass@1 of models on sets, from results or from published tables, and what is read off them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean, median
from typing import Final, Literal

from triathlon_runner.evolved import SEED, SEMANTIC_ALTERING
from triathlon_runner.llm import ModelKind
from triathlon_runner.metrics import pass_at_k_by_task
from triathlon_site.analysis._families import Unit, relative_drop

SEMANTIC_PRESERVING: Final = ("verbose", "concise")
SELF_INVOKING: Final = ("humaneval-pro", "mbpp-pro")
FAR: Final = 1.5
"""Robust standard deviations below the line from which on a model counts as better on the old benchmark. The
paper draws its two regions by eye and gives no rule."""

NORMAL_MAD: Final = 0.6744897501960817
"""Median absolute deviation of the standard normal distribution."""
Row = Mapping[str, float]
"""pass@1 in per cent by set; a set that was not measured is absent."""
Board = Mapping[str, Row]
"""Rows by model."""
Region = Literal["aligned", "better on the old"]


def row_of(units: Mapping[str, Sequence[Unit]]) -> dict[str, float]:
    """One model's row from its results by set; with several samples of a task, their mean."""
    shares = {name: pass_at_k_by_task(results, 1).values() for name, results in units.items()}
    return {name: 100 * fmean(by_task) for name, by_task in shares.items() if by_task}


def column(board: Board, name: str) -> dict[str, float]:
    """One set's scores by model, for the models that have one."""
    return {model: row[name] for model, row in board.items() if name in row}


def evoeval_column(board: Board, seed: str = SEED) -> dict[str, float]:
    """Mean pass@1 of the seeds and the five semantic-altering sets by model, where all six are there.

    EvoEval, table 1.
    """
    names = (seed, *SEMANTIC_ALTERING)
    return {m: fmean(row[name] for name in names) for m, row in board.items() if row.keys() >= set(names)}


@dataclass(frozen=True, slots=True)
class Drops:
    """Relative decreases from the seed set, in per cent."""

    per_set: Mapping[str, float]
    """Mean over the models (EvoEval, section 4.1: 56.6, 48.2, 5.0, 74.7, 6.1)."""
    overall: float
    """Mean of the five sets (the paper: 38.1)."""
    of_five_sets: Mapping[str, float]
    """By model: mean of its drops on the five sets; `overall` is their mean."""
    per_model: Mapping[str, float]
    """From the seed set to the EvoEval average (the paper: 19.6 to 47.7)."""
    models: int


def drops(board: Board, seed: str = SEED) -> Drops:
    """Drops over the models that have all six scores and solve something of the seed set.

    Raises:
        ValueError: there is no such model.
    """
    averages = {m: average for m, average in evoeval_column(board, seed).items() if board[m][seed] > 0}
    if not averages:
        raise ValueError(f"expected a model with scores on {seed!r} and {SEMANTIC_ALTERING}, got none")
    table = {
        model: {name: relative_drop(board[model][seed], board[model][name]) for name in SEMANTIC_ALTERING}
        for model in averages
    }
    per_set = {name: fmean(row[name] for row in table.values()) for name in SEMANTIC_ALTERING}
    of_five_sets = {model: fmean(row.values()) for model, row in table.items()}
    per_model = {model: relative_drop(board[model][seed], average) for model, average in averages.items()}
    return Drops(per_set, fmean(per_set.values()), of_five_sets, per_model, len(table))


@dataclass(frozen=True, slots=True)
class Change:
    """Mean relative change from one set to another over some models, in per cent (positive: more solved)."""

    change: float
    before: float
    """Mean pass@1 on the first set, in per cent."""
    after: float
    models: int


def change(board: Board, before: str, after: str) -> Change | None:
    """The mean over the models that have both scores and solve something of the first set, if any do."""
    pairs = [(row[before], row[after]) for row in board.values() if row.get(before) and after in row]
    if not pairs:
        return None
    return Change(
        change=fmean(100 * (new - old) / old for old, new in pairs),
        before=fmean(old for old, _ in pairs),
        after=fmean(new for _, new in pairs),
        models=len(pairs),
    )


def change_by_kind(
    board: Board, kinds: Mapping[str, ModelKind], after: str, before: str = SEED
) -> dict[str, Change]:
    """`change` for `instruct` and `base` models apart (EvoEval, sections 4.1 and 4.3)."""
    rows = {
        kind: {m: row for m, row in board.items() if kinds.get(m) == kind} for kind in ("instruct", "base")
    }
    changes = {kind: change(rows_of_kind, before, after) for kind, rows_of_kind in rows.items()}
    return {kind: result for kind, result in changes.items() if result is not None}


@dataclass(frozen=True, slots=True)
class Placed:
    """One model in the plane of two benchmarks, in per cent."""

    old: float
    new: float
    expected: float
    """The new score at the model's old score on the line through all models."""
    distance: float
    """(new - expected) in robust standard deviations."""
    region: Region


def regions(old: Mapping[str, float], new: Mapping[str, float], far: float = FAR) -> dict[str, Placed]:
    """Every model that has both scores, with its place against the Theil-Sen line of all (EvoEval, figure 2).

    Raises:
        ValueError: fewer than three models have both.
    """
    models = [model for model in old if model in new]
    if len(models) < 3:
        raise ValueError(f"expected at least 3 models with both scores, got {len(models)}")
    pairs = permutations([(old[model], new[model]) for model in models], 2)
    rises = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in pairs if x2 > x1]
    slope = median(rises) if rises else 0.0  # equal old scores have no slope
    intercept = median(new[model] - slope * old[model] for model in models)
    expected = {model: intercept + slope * old[model] for model in models}
    misses = {model: new[model] - expected[model] for model in models}
    middle = median(misses.values())
    deviation = median(abs(miss - middle) for miss in misses.values()) / NORMAL_MAD
    placed = {}
    for model, miss in misses.items():
        distance = miss / deviation if deviation else 0.0
        region: Region = "better on the old" if distance < -far else "aligned"
        placed[model] = Placed(old[model], new[model], expected[model], distance, region)
    return placed
