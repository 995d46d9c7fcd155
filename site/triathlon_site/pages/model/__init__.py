"""The page of a model, and the page of all its units."""

from triathlon_site.pages.model._page import beside_recordings, drafts, unit_draft
from triathlon_site.pages.model._sides import drops_of, falls_of, profile

__all__ = ["beside_recordings", "drafts", "drops_of", "falls_of", "profile", "unit_draft"]
