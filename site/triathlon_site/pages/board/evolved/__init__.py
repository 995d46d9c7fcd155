"""The evolved discipline on the pages."""

from triathlon_site.pages.board.evolved._analyses import changes_by_kind, drops_by_model, old_against_new
from triathlon_site.pages.board.evolved._regions import region_border
from triathlon_site.pages.board.evolved._sections import evolved_sections, share
from triathlon_site.pages.board.evolved._view import EVOLVED

__all__ = [
    "EVOLVED",
    "changes_by_kind",
    "drops_by_model",
    "evolved_sections",
    "old_against_new",
    "region_border",
    "share",
]
