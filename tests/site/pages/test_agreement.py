"""The page of agreement and the file that its scatters are drawn from."""

import json
import math
from pathlib import Path

import pytest
from plotly import graph_objects

from support.site import small_results
from triathlon_site.build import gather
from triathlon_site.pages import render_site
from triathlon_site.render import installed_environment


def test_the_interactive_scatter_shows_the_scores_of_the_boards(tmp_path: Path) -> None:
    """Each column of the file has the scores of a ranked column in the units of its axis, by model; its
    figure is one that plotly accepts.
    """
    site = gather(small_results(tmp_path / "results"), None)
    pages = {page.path: page.content for page in render_site(site, installed_environment())}
    script = pages["data/agreement.js"]
    found = json.loads(script.removeprefix("window.triathlonColumns = ").removesuffix(";\n"))
    ranked = [column for board in site.boards for column in board.shown if column.column.ranked]
    assert found["models"] == sorted(site.results.models)
    for own, column in zip(found["columns"], ranked, strict=True):
        times = 100 if column.column.maximum == 1 else 1
        scores = [
            column.scores[model].value if model in column.scores else math.nan for model in found["models"]
        ]
        shown = [math.nan if value is None else value for value in own["values"]]
        assert shown == pytest.approx([times * score for score in scores], nan_ok=True)
    (trace,) = graph_objects.Figure(found["figure"]).data
    assert (trace.type, trace.mode) == ("scatter", "markers")
    assert 'data-columns="0 1"' in pages["agreement/1-2.html"]
