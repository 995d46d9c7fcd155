"""The front page: all disciplines, who leads, and how sure that is."""

from triathlon_site.pages.front._page import drafts, is_old, path, title

__all__ = ["drafts", "is_old", "path", "title"]
