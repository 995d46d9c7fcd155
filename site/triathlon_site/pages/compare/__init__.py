"""The page that sets models side by side, and the files that it loads."""

from triathlon_site.pages.compare._data import as_shown, files
from triathlon_site.pages.compare._neighbours import BEST, model_pairs
from triathlon_site.pages.compare._page import draft

__all__ = ["BEST", "as_shown", "draft", "files", "model_pairs"]
