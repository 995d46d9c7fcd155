"""From results to `_site/`: gather, check, then write, so that a failed build leaves the old site."""

from triathlon_site.build._build import BuildReport, build, cache_folder, gather
from triathlon_site.pages import Gathered

__all__ = ["BuildReport", "Gathered", "build", "cache_folder", "gather"]
