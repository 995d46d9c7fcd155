"""The runtime discipline on the pages."""

from triathlon_site.pages.board.runtime._view import PREDICTION, RUNTIME

__all__ = ["PREDICTION", "RUNTIME"]
