"""The page of our measurements beside what others report."""

import math
import shutil
from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries, rendered_texts
from triathlon_site.build import gather
from triathlon_site.pages import Gathered
from triathlon_site.pages.truth import PATH, pairs

FOLDER = Path(__file__).parents[3] / "results" / "published"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """GPT-5, whose ASL others report, and a model that nobody else has."""
    root = tmp_path_factory.mktemp("measured")
    suites = [FakeSuite(entry, tasks=40) for entry in entries(["loop/mbpp-plus"])]
    write_results(root, [FakeModel("gpt-5", 1.0, 0.9), FakeModel("mine", 0.0, 0.5)], suites)
    shutil.copytree(FOLDER, root / "published")
    (root / "recorded").mkdir()
    (root / "recorded/names.csv").write_text("id,name\ngpt-5,GPT-5\n")
    return gather(root, None)


def test_pairs_are_of_one_model_and_one_quantity(measured: Gathered) -> None:
    """Every figure that others report for a measured model, with the difference and its interval."""
    found = list(pairs(measured))
    assert {pair.snapshot.info.name for pair in found} == {"GPT-5"}
    assert sorted(pair.reported.value for pair in found) == [0.817, 7.774]
    for pair in found:
        assert pair.difference == pytest.approx(pair.own.middle - pair.reported.value)


def test_the_interval_is_of_both_figures(measured: Gathered) -> None:
    """Wider than that of either, and zero within it is agreement."""
    (pair,) = (pair for pair in pairs(measured) if pair.maximum == 1)
    own, theirs = pair.own.interval, pair.reported.interval
    assert theirs is not None and pair.interval is not None
    arms = pair.own.middle - own.low, theirs.high - pair.reported.value
    assert pair.difference - pair.interval.low == pytest.approx(math.hypot(*arms))
    assert pair.interval.high - pair.interval.low > max(own.high - own.low, theirs.high - theirs.low)
    assert pair.agrees is (pair.interval.low <= 0 <= pair.interval.high)


def test_the_page_shows_each_pair(measured: Gathered) -> None:
    """A row each, with both figures; a site without a pair has no such page."""
    page = rendered_texts(measured)[PATH]
    assert page.count("<tr>") == 1 + len(list(pairs(measured)))
    assert "GPT-5" in page and "EVALOOOP" in page and ">mine<" not in page
