"""Tasks across models: an overview, a page a suite, and who solves each task."""

from triathlon_site.pages.tasks._page import drafts, suite_page

__all__ = ["drafts", "suite_page"]
