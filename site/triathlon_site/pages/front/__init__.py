"""The front page: the best of each discipline in pictures, every model of any source in one table."""

from triathlon_site.pages.front._columns import BESIDE, CORRELATED, FRONT, RANKED_BY, SHOWN
from triathlon_site.pages.front._page import drafts
from triathlon_site.pages.front._ranks import default_column, in_order, ranks_in
from triathlon_site.pages.front._table import AllModels, ModelRow, all_models, model_rows

__all__ = [
    "BESIDE",
    "CORRELATED",
    "FRONT",
    "RANKED_BY",
    "SHOWN",
    "AllModels",
    "ModelRow",
    "all_models",
    "default_column",
    "drafts",
    "in_order",
    "model_rows",
    "ranks_in",
]
