"""The front page: every model of any grade of evidence in one table."""

from triathlon_site.pages.front._cells import FrontCell, OwnCells
from triathlon_site.pages.front._findings import is_small_and_open
from triathlon_site.pages.front._models import AllModels, ModelRow, all_models
from triathlon_site.pages.front._page import PATH, TITLE, drafts, empty_draft, has_models

__all__ = [
    "PATH",
    "TITLE",
    "AllModels",
    "FrontCell",
    "ModelRow",
    "OwnCells",
    "all_models",
    "drafts",
    "empty_draft",
    "has_models",
    "is_small_and_open",
]
