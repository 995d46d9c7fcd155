"""One ability a model from columns that only some models have."""

from triathlon_site.ability._index import COLUMNS, Index, IndexColumn, IndexRow, compute_index, years
from triathlon_site.ability._model import (
    Array,
    Cells,
    Columns,
    abilities,
    fit_columns,
    predict_scores,
    resample_columns,
)

__all__ = [
    "COLUMNS",
    "Array",
    "Cells",
    "Columns",
    "Index",
    "IndexColumn",
    "IndexRow",
    "abilities",
    "compute_index",
    "fit_columns",
    "predict_scores",
    "resample_columns",
    "years",
]
