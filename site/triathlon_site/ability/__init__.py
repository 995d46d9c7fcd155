"""One ability a model from columns that only some models have."""

from triathlon_site.ability._index import (
    CENTRE,
    COLUMNS,
    POINTS,
    Index,
    IndexColumn,
    IndexRow,
    compute_index,
    years,
)
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
    "CENTRE",
    "COLUMNS",
    "POINTS",
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
