"""The page of the data files."""

from triathlon_site.pages.data._json_ld import dataset
from triathlon_site.pages.data._page import draft

__all__ = ["dataset", "draft"]
