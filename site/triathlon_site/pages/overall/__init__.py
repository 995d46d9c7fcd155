"""The board of our own problems: the order over all disciplines."""

from triathlon_site.pages.overall._page import CORE, PATH, TITLES, drafts, is_old, paths

__all__ = ["CORE", "PATH", "TITLES", "drafts", "is_old", "paths"]
