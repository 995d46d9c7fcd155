"""The page of the data files."""

from triathlon_site.pages.data._page import drafts

__all__ = ["drafts"]
