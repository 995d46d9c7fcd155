"""Published results: pages and rankings of their own, marked as published."""

from triathlon_site.pages.published._page import drafts
from triathlon_site.pages.published._tables import side_tables

__all__ = ["drafts", "side_tables"]
