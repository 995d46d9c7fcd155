"""The board of our own problems: the order over all disciplines."""

from triathlon_site.pages.overall._page import ADDED, ADDED_PATH, ADDED_TITLE, PATH, TITLE, drafts, is_old

__all__ = ["ADDED", "ADDED_PATH", "ADDED_TITLE", "PATH", "TITLE", "drafts", "is_old"]
