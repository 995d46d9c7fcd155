"""The page of a board: one discipline on one set of data."""

from triathlon_site.pages.board._figures import curve_columns, degradation_curve
from triathlon_site.pages.board._page import drafts, missing_suites
from triathlon_site.pages.board._reported import places, reported_models, reported_scores
from triathlon_site.pages.board._retention import BoardRetention
from triathlon_site.pages.board._view_protocol import FrontColumn
from triathlon_site.pages.board._views_by_discipline import (
    ARTICLES,
    FRONT,
    Finding,
    finding,
    heading_of,
    view_named,
    view_of,
)
from triathlon_site.pages.board.runtime import LINE_KINDS, question_columns

__all__ = [
    "ARTICLES",
    "FRONT",
    "LINE_KINDS",
    "BoardRetention",
    "Finding",
    "FrontColumn",
    "curve_columns",
    "degradation_curve",
    "drafts",
    "finding",
    "heading_of",
    "missing_suites",
    "places",
    "question_columns",
    "reported_models",
    "reported_scores",
    "view_named",
    "view_of",
]
