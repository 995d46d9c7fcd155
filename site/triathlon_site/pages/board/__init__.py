"""The page of a board: one discipline on one set of data."""

from triathlon_site.pages.board._address import board_page, part_run
from triathlon_site.pages.board._figures import curve_columns, degradation_curve
from triathlon_site.pages.board._finding import Finding, finding
from triathlon_site.pages.board._page import BoardContext, board_draft, board_figures
from triathlon_site.pages.board._reported import ReportedModels, places, reported_models, reported_scores
from triathlon_site.pages.board._retention import BoardRetention, Retention, board_retention
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board._views import VIEWS, heading_of, view_of

__all__ = [
    "VIEWS",
    "BoardContext",
    "BoardRetention",
    "DisciplineView",
    "Finding",
    "ReportedModels",
    "Retention",
    "board_draft",
    "board_figures",
    "board_page",
    "board_retention",
    "curve_columns",
    "degradation_curve",
    "finding",
    "heading_of",
    "part_run",
    "places",
    "reported_models",
    "reported_scores",
    "view_of",
]
