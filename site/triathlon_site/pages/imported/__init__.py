"""The page of results that others asked for and this program graded."""

from triathlon_site.pages.imported._page import PATH, drafts, imported_files

__all__ = ["PATH", "drafts", "imported_files"]
