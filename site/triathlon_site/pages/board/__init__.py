"""The page of a board: one discipline on one set of data."""

from triathlon_site.pages.board._figures import degradation_curve
from triathlon_site.pages.board._finding import Finding, finding
from triathlon_site.pages.board._page import board_draft, board_figures
from triathlon_site.pages.board._reported import ReportedModels, places, reported_models, reported_scores
from triathlon_site.pages.board._retention import BoardRetention, Retention, board_retention
from triathlon_site.pages.board._views import heading_of, view_of

__all__ = [
    "BoardRetention",
    "Finding",
    "ReportedModels",
    "Retention",
    "board_draft",
    "board_figures",
    "board_retention",
    "degradation_curve",
    "finding",
    "heading_of",
    "places",
    "reported_models",
    "reported_scores",
    "view_of",
]
