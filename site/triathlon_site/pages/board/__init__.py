"""The page of a board: one discipline on one set of data."""

from triathlon_site.pages.board._evolved_analyses import changes_by_kind, drops_by_model, old_against_new
from triathlon_site.pages.board._page import (
    ARTICLES,
    FRONT,
    board_models,
    drafts,
    finding,
    heading_of,
    missing_suites,
    reported_scores,
    view_named,
    view_of,
)
from triathlon_site.pages.board._parts import FrontColumn, curve_columns, degradation_curve, shift_sentences
from triathlon_site.pages.board._runtime_answers import LINE_KINDS
from triathlon_site.pages.board.runtime import left_out_programs, question_columns
