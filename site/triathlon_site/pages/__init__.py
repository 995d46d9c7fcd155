"""Pages: from scores to HTML, one folder a page, through typed contexts and jinja2 templates."""

from triathlon_site.pages._cells import Cell
from triathlon_site.pages._rendering import Gathered, Rendering, reported_by_board
from triathlon_site.pages._reported import ReportedTables, same_model
from triathlon_site.pages.imported import imported_files

__all__ = [
    "Cell",
    "Gathered",
    "Rendering",
    "ReportedTables",
    "imported_files",
    "reported_by_board",
    "same_model",
]
