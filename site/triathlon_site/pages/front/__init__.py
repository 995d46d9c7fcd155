"""The front page: every model of any grade of evidence in one table."""

from triathlon_site.pages.front._columns import CORRELATED, FRONT, SHOWN
from triathlon_site.pages.front._findings import is_small_and_open
from triathlon_site.pages.front._page import EmptyContext, drafts
from triathlon_site.pages.front._table import AllModels, ModelRow, all_models, model_rows

__all__ = [
    "CORRELATED",
    "FRONT",
    "SHOWN",
    "AllModels",
    "EmptyContext",
    "ModelRow",
    "all_models",
    "drafts",
    "is_small_and_open",
    "model_rows",
]
