"""The loop discipline on the pages."""

from triathlon_site.pages.board.loop._sections import loop_sections
from triathlon_site.pages.board.loop._view import LOOP, loop_note, loop_retentions, lost_loops

__all__ = ["LOOP", "loop_note", "loop_retentions", "loop_sections", "lost_loops"]
