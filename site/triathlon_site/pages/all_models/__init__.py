"""All models of any source."""

from triathlon_site.pages.all_models._page import PATH, drafts

__all__ = ["PATH", "drafts"]
