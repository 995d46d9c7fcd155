"""Analyses of the evolved sets beyond pass@1: pure functions over records or over published tables."""

from triathlon_runner.evolved import SEED, SEMANTIC_ALTERING
from triathlon_site.analysis._board import (
    FAR,
    SELF_INVOKING,
    SEMANTIC_PRESERVING,
    Change,
    Placed,
    change_by_kind,
    column,
    drops,
    evoeval_column,
    regions,
    row_of,
)
from triathlon_site.analysis._families import (
    Composition,
    Decomposition,
    Paired,
    SameSeeds,
    against_same_seeds,
    composition,
    decomposition,
    outcomes,
    relative_drop,
    sets_against_each_other,
)
from triathlon_site.analysis._measured import Measured, measured

__all__ = [
    "FAR",
    "SEED",
    "SELF_INVOKING",
    "SEMANTIC_ALTERING",
    "SEMANTIC_PRESERVING",
    "Change",
    "Composition",
    "Decomposition",
    "Measured",
    "Paired",
    "Placed",
    "SameSeeds",
    "against_same_seeds",
    "change_by_kind",
    "column",
    "composition",
    "decomposition",
    "drops",
    "evoeval_column",
    "measured",
    "outcomes",
    "regions",
    "relative_drop",
    "row_of",
    "sets_against_each_other",
]
