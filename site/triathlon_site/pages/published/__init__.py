"""Published results: their own pages and rankings, marked as published."""

from triathlon_site.pages.published._page import drafts
from triathlon_site.pages.published._tables import side_tables

__all__ = ["drafts", "side_tables"]
