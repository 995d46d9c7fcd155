"""The front page: every model of any grade of evidence in one table."""

from triathlon_site.pages.front._cells import REPORTED, FrontCell, ScoreCells
from triathlon_site.pages.front._columns import CORRELATED, FrontColumn
from triathlon_site.pages.front._findings import is_small_and_open
from triathlon_site.pages.front._models import AllModels, ModelRow, all_models, model_rows
from triathlon_site.pages.front._page import PATH, TITLE, EmptyContext, drafts, has_models

__all__ = [
    "CORRELATED",
    "PATH",
    "REPORTED",
    "TITLE",
    "AllModels",
    "EmptyContext",
    "FrontCell",
    "FrontColumn",
    "ModelRow",
    "ScoreCells",
    "all_models",
    "drafts",
    "has_models",
    "is_small_and_open",
    "model_rows",
]
