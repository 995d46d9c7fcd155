"""What pages are filled with: the templates of this installation, and plotly.js."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import plotly

from triathlon_site.environment import Environment, find_templates
from triathlon_site.pages import _cells, _format
from triathlon_site.pages._models import billions

PLOTLY: Final = f"plotly-{plotly.__version__}.min.js"
"""Name of the copy of plotly.js under `assets/`."""


def plotly_script() -> bytes:
    """plotly.js out of the installed package."""
    return Path(plotly.__file__).with_name("package_data").joinpath("plotly.min.js").read_bytes()


@cache
def plotly_styles() -> tuple[str, ...]:
    """Ids of the style sheets that plotly.js would write into the page unless elements with them are there.

    They are of its maps, which no page draws; the content policy of the site lets no such sheet in.
    """
    guarded = re.findall(rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)', plotly_script())
    return tuple(found.decode() for found in guarded)


@cache
def installed_environment() -> Environment:
    """The templates of this installation, parsed once a process."""
    filters = {**_format.FILTERS, "billions": billions}
    return Environment(find_templates(), filters=filters, functions=_cells.FUNCTIONS)
