"""Pages: from scores to HTML, through typed contexts and jinja2 templates."""

from triathlon_site.pages._data import Row, score_rows
from triathlon_site.pages._environment import (
    PLOTLY,
    Environment,
    find_templates,
    installed_environment,
    plotly_script,
    spelt_out,
)
from triathlon_site.pages._imported import imported_files
from triathlon_site.pages._models import ModelInfo, model_infos
from triathlon_site.pages._page import Page
from triathlon_site.pages._site import Gathered, Rendering, render_site

__all__ = [
    "PLOTLY",
    "Environment",
    "Gathered",
    "ModelInfo",
    "Page",
    "Rendering",
    "Row",
    "find_templates",
    "imported_files",
    "installed_environment",
    "model_infos",
    "plotly_script",
    "render_site",
    "score_rows",
    "spelt_out",
]
