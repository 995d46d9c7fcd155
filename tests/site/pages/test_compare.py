"""Models side by side: pairs without a script, and the numbers that the script loads."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from support.results import FakeModel
from support.site import build_small, small_results
from triathlon_site.build import gather
from triathlon_site.pages import installed_environment, render_site
from triathlon_site.pages._compare_data import _rows
from triathlon_site.pages._neighbours import BEST, model_pairs
from triathlon_site.uncertainty import paired_difference


def test_the_best_are_compared_each_with_each(tmp_path: Path) -> None:
    """Five models of seven each with each, then each with the next: 10 and 2 pairs."""
    fakes = [FakeModel(f"m{place}", 2.0 - place / 2, 0.9) for place in range(7)]
    site = gather(small_results(tmp_path / "results", fakes), None)
    overall = site.overalls["core"]
    pairs = list(model_pairs(overall, site.models))
    assert len(pairs) == BEST * (BEST - 1) // 2 + 2
    order = [row.model for row in overall.rows]
    assert all(order.index(pair.higher.id) < order.index(pair.lower.id) for pair in pairs)


def test_a_difference_is_that_of_the_paired_bootstrap(tmp_path: Path) -> None:
    """With one suite the same numbers as a single comparison; the verdict counts what leaves out zero."""
    site = gather(small_results(tmp_path / "results"), None)
    overall = site.overalls["core"]
    loop = overall.boards[0].headline.samples[0]
    for pair in model_pairs(overall, site.models):
        rows = loop.models.index(pair.higher.id), loop.models.index(pair.lower.id)
        found, expected = pair.differences[0][0], paired_difference(loop, *rows)
        assert found and expected
        assert found.value == pytest.approx(expected.value)
        assert found.interval.low == pytest.approx(expected.interval.low)
        sure = sum(one.sure for one, _ in pair.differences if one)
        assert (pair.verdict == "no telling") == (sure == 0)


def test_the_page_has_the_pairs_without_a_script(tmp_path: Path) -> None:
    """A row a pair in the page itself, with links to both models."""
    build_small(tmp_path)
    page = (tmp_path / "_site/compare.html").read_text()
    body = page[page.index('id="neighbours-core"') :]
    assert len(re.findall(r"<tr><th scope=\"row\"", body)) == 3
    assert 'href="models/strong.html"' in body and "<noscript>" in page


@pytest.mark.parametrize(
    ("row", "written"),
    [
        ([0, 1, 9], "[0,1,9]"),
        ([0, 1, 10], "[0,1,10]"),
        ([-1, 1234567], "[-1,1234567]"),
        ([1, 0.5, 1 / 3], "[1.0,0.5,0.333333]"),
        ([2.5, 2.5], "2.5"),
        ([1, 1], "1.0"),
        ([], "[]"),
    ],
)
def test_numbers_are_short(row: list[float], written: str) -> None:
    """Counts as counts, shares with six digits, one number where all are equal."""
    assert list(_rows(np.array([row, row], dtype=float))) == [written, written]


def test_the_script_of_a_model_has_its_numbers(tmp_path: Path) -> None:
    """By suite and metric, in the order of the names in the index: those that the scores are made of."""
    site = gather(small_results(tmp_path / "results"), None)
    pages = {page.path: page.content for page in render_site(site, installed_environment())}
    index = json.loads(pages["data/compare.js"].removeprefix("window.triathlonIndex = ").rstrip(";\n"))
    board = site.boards[0]
    key, sample = f"{board.plan.headline.parts[0][0]}:asl_low", board.headline.samples[0]
    assert tuple(index["clusters"][index["clustersOf"][key]]) == sample.clusters
    for row, model in enumerate(sample.models):
        script = pages[f"data/compare/{model}.js"]
        found = json.loads(script.removeprefix("window.triathlonModel(").removesuffix(");\n"))
        for written, expected in zip(
            found["parts"][key], (sample.numerators, sample.denominators), strict=True
        ):
            numbers = np.broadcast_to(written, len(sample.clusters)).tolist()
            assert numbers == pytest.approx(expected[row].tolist(), rel=1e-5)
        assert list(found) == ["id", "name", "curve", "curvePath", "radarPath", "parts", "columns"]
