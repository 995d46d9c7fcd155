"""The page that sets models side by side, and the files that it loads."""

from triathlon_site.pages.compare._page import BEST, compared_families, drafts, neighbours

__all__ = ["BEST", "compared_families", "drafts", "neighbours"]
