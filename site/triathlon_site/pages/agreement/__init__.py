"""Do the disciplines agree? A page of rank correlations, and a page for every two columns."""

from triathlon_site.pages.agreement._page import drafts

__all__ = ["drafts"]
