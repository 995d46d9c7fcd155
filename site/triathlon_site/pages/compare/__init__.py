"""The page that sets models side by side, and the files that it loads."""

from triathlon_site.pages.compare._data import as_shown, files
from triathlon_site.pages.compare._page import BEST, compared_families, draft, neighbours

__all__ = ["BEST", "as_shown", "compared_families", "draft", "files", "neighbours"]
