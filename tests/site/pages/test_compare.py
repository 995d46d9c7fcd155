"""Pairs of models without a script."""

import re
from pathlib import Path

import pytest

from support.results import FakeModel
from support.site import build_small, small_results
from triathlon_site.build import gather
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
