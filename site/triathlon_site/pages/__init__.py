"""Pages: from scores to HTML, through typed contexts and jinja2 templates."""

from triathlon_site.pages._environment import Environment, find_templates
from triathlon_site.pages._models import ModelInfo, model_infos
from triathlon_site.pages._site import Page, Site, render_site

__all__ = ["Environment", "ModelInfo", "Page", "Site", "find_templates", "model_infos", "render_site"]
