"""The runtime discipline on the pages."""

from triathlon_site.pages.board.runtime._summary import LINE_KINDS
from triathlon_site.pages.board.runtime._view import PREDICTION, RUNTIME, question_columns

__all__ = ["LINE_KINDS", "PREDICTION", "RUNTIME", "question_columns"]
