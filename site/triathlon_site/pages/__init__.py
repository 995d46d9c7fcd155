"""Pages: from scores to HTML, a folder or a file a page, each with its jinja2 template."""

from triathlon_site.pages._rendering import Rendering
from triathlon_site.pages._site import Gathered
