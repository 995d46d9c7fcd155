"""The board of our own problems: the order over all disciplines."""

from triathlon_site.pages.overall._page import PATH, TITLE, drafts, is_old

__all__ = ["PATH", "TITLE", "drafts", "is_old"]
