"""The front page: the best of each discipline in pictures, every model of any source in one table."""

from triathlon_site.pages.front._columns import BESIDE, CORRELATED, FRONT, SHOWN
from triathlon_site.pages.front._page import EmptyContext, drafts
from triathlon_site.pages.front._table import AllModels, ModelRow, all_models, model_rows

__all__ = [
    "BESIDE",
    "CORRELATED",
    "FRONT",
    "SHOWN",
    "AllModels",
    "EmptyContext",
    "ModelRow",
    "all_models",
    "drafts",
    "model_rows",
]
