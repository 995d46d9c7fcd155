"""Pages: from scores to HTML, through typed contexts and jinja2 templates."""

from triathlon_site.pages._imported import imported_files
from triathlon_site.pages._installed import PLOTLY, installed_environment, plotly_script
from triathlon_site.pages._models import ModelInfo, model_infos
from triathlon_site.pages._page import Page
from triathlon_site.pages._site import Gathered, Rendering, render_site

__all__ = [
    "PLOTLY",
    "Gathered",
    "ModelInfo",
    "Page",
    "Rendering",
    "imported_files",
    "installed_environment",
    "model_infos",
    "plotly_script",
    "render_site",
]
