"""The translation loop on the pages."""

from triathlon_site.pages.board.translation._view import TRANSLATION, translation_sections

__all__ = ["TRANSLATION", "translation_sections"]
