"""The changes since the last builds: a page and an Atom feed."""

from triathlon_site.pages.changes._page import drafts

__all__ = ["drafts"]
