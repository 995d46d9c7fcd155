"""The method page, the prompts, and the card of our own problems."""

from triathlon_site.pages.method._page import SEEDS, core_draft, drafts

__all__ = ["SEEDS", "core_draft", "drafts"]
