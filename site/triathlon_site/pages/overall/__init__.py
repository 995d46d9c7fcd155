"""The board of our own problems: the order over all disciplines."""

from triathlon_site.pages.overall._page import TITLES, drafts, is_old

__all__ = ["TITLES", "drafts", "is_old"]
