"""The page of a board: one discipline on one set of data."""

from triathlon_site.pages.board._front import FRONT, FrontColumn
from triathlon_site.pages.board._page import (
    ARTICLES,
    board_models,
    drafts,
    finding,
    heading_of,
    missing_suites,
    reported_rows,
    view_named,
    view_of,
)
from triathlon_site.pages.board._parts import curve_columns, degradation_curve, first_of, shift_sentences
from triathlon_site.pages.board._runtime_answers import LINE_KINDS
from triathlon_site.pages.board.evolved import changes_by_kind, drops_by_model
from triathlon_site.pages.board.runtime import left_out_programs, question_columns
