"""The page of a model, and the page of all its units."""

from triathlon_site.pages.model._falls import drops_of, falls_of, steepest
from triathlon_site.pages.model._numbers import beside_recordings
from triathlon_site.pages.model._page import drafts, unit_draft
from triathlon_site.pages.model._profile import profile

__all__ = [
    "beside_recordings",
    "drafts",
    "drops_of",
    "falls_of",
    "profile",
    "steepest",
    "unit_draft",
]
