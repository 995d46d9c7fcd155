"""How much less models solve of the evolved sets than of their seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from triathlon_runner.evolved.analysis._board import SEED, SEMANTIC_ALTERING, Board, evoeval_average
from triathlon_runner.evolved.analysis._families import Outcomes, parents_against_children


def relative_drop(before: float, after: float) -> float:
    """The decrease from `before` to `after` in per cent of `before`; negative for an increase."""
    return 100 * (before - after) / before


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
    rows = {m: row for m, row in board.items() if evoeval_average(row, seed) is not None and row[seed] > 0}
    if not rows:
        raise ValueError(f"expected a model with scores on {seed!r} and {SEMANTIC_ALTERING}, got none")
    per_set = {
        name: fmean(relative_drop(row[seed], row[name]) for row in rows.values())
        for name in SEMANTIC_ALTERING
    }
    of_five_sets = {
        model: fmean(relative_drop(row[seed], row[name]) for name in SEMANTIC_ALTERING)
        for model, row in rows.items()
    }
    per_model = {
        model: relative_drop(row[seed], average)
        for model, row in rows.items()
        if (average := evoeval_average(row, seed)) is not None
    }
    return Drops(per_set, fmean(per_set.values()), of_five_sets, per_model, len(rows))


@dataclass(frozen=True, slots=True)
class SameSeeds:
    """A set against exactly the seeds that its problems came from (for subtle, the paper's 22.5 %)."""

    seeds: float
    """pass@1 in per cent on the parents of the set's problems."""
    evolved: float
    drop: float
    """Relative decrease in per cent; nan where no seed was solved."""
    problems: int


def against_same_seeds(parents: Outcomes, children: Outcomes) -> SameSeeds:
    """One model's drop from the parents of a set's problems to these problems themselves.

    Raises:
        ValueError: no problem of `children` has its parents among `parents`.
    """
    counts = parents_against_children(parents, children)
    if not counts.n:
        raise ValueError("expected results of problems together with results of their parents, got no pair")
    seeds = 100 * ((counts.both + counts.first_only) / counts.n)
    evolved = 100 * ((counts.both + counts.second_only) / counts.n)
    return SameSeeds(seeds, evolved, relative_drop(seeds, evolved) if seeds else float("nan"), counts.n)
