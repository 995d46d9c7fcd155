"""plotly.js, which draws the interactive figures when a visitor asks for them.

The figures are plotly's own, made in Python, each beside its static form. A page adds what only it knows: its
colours, and which models were chosen.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

import plotly

PLOTLY: Final = f"plotly-{plotly.__version__}.min.js"
"""Name of the copy of plotly.js under `assets/`."""


def plain_text(name: str) -> str:
    """A model's name as plotly shows it as it is: in its texts `<a href=…>` is a link."""
    return name.replace("&", "&amp;").replace("<", "&lt;")


@cache
def plotly_script() -> bytes:
    """The content of plotly.js."""
    return Path(plotly.__file__).with_name("package_data").joinpath("plotly.min.js").read_bytes()


@cache
def plotly_styles() -> tuple[str, ...]:
    """Ids of the style sheets that plotly.js would write into the page unless elements with them are there.

    They are of its maps, which no page draws; the content policy of the site does not admit such a sheet.
    """
    guarded = re.findall(rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)', plotly_script())
    return tuple(style_id.decode() for style_id in guarded)
