"""Analyses of the evolved sets beyond pass@1: pure functions over records or over published tables."""

from triathlon_runner.endpoints import ModelKind
from triathlon_runner.evolved._units import Linked, Unit
from triathlon_runner.evolved.analysis._board import (
    SEED,
    SELF_INVOKING,
    SEMANTIC_ALTERING,
    SEMANTIC_PRESERVING,
    Board,
    Row,
    column,
    evoeval_average,
    evoeval_column,
    row_of,
    seed_of,
)
from triathlon_runner.evolved.analysis._composition import (
    Composition,
    Decomposition,
    composition,
    decomposition,
)
from triathlon_runner.evolved.analysis._drops import (
    Drops,
    SameSeeds,
    against_same_seeds,
    drops,
    relative_drop,
)
from triathlon_runner.evolved.analysis._families import (
    Outcomes,
    Paired,
    Problems,
    outcomes,
    paired,
    parents_against_children,
    sets_against_each_other,
)
from triathlon_runner.evolved.analysis._measured import Measured, Results, Source, measured, source_of
from triathlon_runner.evolved.analysis._regions import FAR, Placed, Region, regions
from triathlon_runner.evolved.analysis._results import read_results
from triathlon_runner.evolved.analysis._rewording import (
    Change,
    change,
    change_by_kind,
    helped_by_tools,
    kind_of,
)

__all__ = [
    "FAR",
    "SEED",
    "SELF_INVOKING",
    "SEMANTIC_ALTERING",
    "SEMANTIC_PRESERVING",
    "Board",
    "Change",
    "Composition",
    "Decomposition",
    "Drops",
    "Linked",
    "Measured",
    "ModelKind",
    "Outcomes",
    "Paired",
    "Placed",
    "Problems",
    "Region",
    "Results",
    "Row",
    "SameSeeds",
    "Source",
    "Unit",
    "against_same_seeds",
    "change",
    "change_by_kind",
    "column",
    "composition",
    "decomposition",
    "drops",
    "evoeval_average",
    "evoeval_column",
    "helped_by_tools",
    "kind_of",
    "measured",
    "outcomes",
    "paired",
    "parents_against_children",
    "read_results",
    "regions",
    "relative_drop",
    "row_of",
    "seed_of",
    "sets_against_each_other",
    "source_of",
]
