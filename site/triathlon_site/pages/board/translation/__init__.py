"""The translation loop on the pages."""

from triathlon_site.pages.board.translation._sections import translation_sections
from triathlon_site.pages.board.translation._view import TRANSLATION

__all__ = ["TRANSLATION", "translation_sections"]
