"""The evolved discipline on the pages."""

from triathlon_site.pages.board.evolved._regions import far_below, region_border
from triathlon_site.pages.board.evolved._sections import evolved_sections, share
from triathlon_site.pages.board.evolved._view import EVOLVED

__all__ = ["EVOLVED", "evolved_sections", "far_below", "region_border", "share"]
