"""The page of a model, and the page of all its units."""

from triathlon_site.pages.model._falls import SteepestFall, falls_of, retention_on, steepest
from triathlon_site.pages.model._numbers import ModelPlace
from triathlon_site.pages.model._page import drafts, unit_draft
from triathlon_site.pages.model._profile import profile

__all__ = [
    "ModelPlace",
    "SteepestFall",
    "drafts",
    "falls_of",
    "profile",
    "retention_on",
    "steepest",
    "unit_draft",
]
