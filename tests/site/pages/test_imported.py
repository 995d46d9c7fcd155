"""Imported results: on the site, and in no ranking."""

import json
import re
from pathlib import Path

import pytest

from support.site import build_small, change, imported_results, page_text, registry_of, small_results
from triathlon_site.build import build

FOUR_BITS = registry_of("weak", "foreign", bits=4)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with imported results."""
    root = tmp_path_factory.mktemp("imported")
    results = imported_results(small_results(root / "results"))
    build(results, root / "_site", FOUR_BITS, cache=root / "cache")
    return root / "_site"


def test_imported_results_have_a_page_and_no_rank(tmp_path: Path, out: Path) -> None:
    """By name with where they come from; nothing else has them. Their weights are not known to be ours."""
    build(small_results(tmp_path / "results"), tmp_path / "_site", FOUR_BITS)
    page, index = ((out / name).read_text() for name in ("imported.html", "index.html"))
    assert all(text in page for text in ("foreign", "weak", "&lt;b&gt;log"))
    assert "rank" not in page.split("<table")[1]
    for name in ("data/evolved-core.json", "data/overall-core.json", "data/evolved-core.csv"):
        assert (out / name).read_bytes() == (tmp_path / "_site" / name).read_bytes()
    assert "foreign" not in index and "imported.html" in index
    assert not (tmp_path / "_site/imported.html").exists()
    assert "weak, 4-bit" in (out / "models/weak.html").read_text()
    pages = [out / "imported.html", *out.glob("imported/*.html"), *out.glob("evidence/imported+*/*.html")]
    assert len(pages) == 5 and not any("4-bit" in page.read_text() for page in pages)


def test_imported_evidence_is_apart_and_can_be_reached(out: Path) -> None:
    """From the name to every unit to its page, which leads back; a measured namesake keeps its own."""
    assert 'href="imported/weak.html"' in (out / "imported.html").read_text()
    units = page_text(out / "imported/weak.html")
    paths = set(re.findall(r'href="\.\./(evidence/imported\+weak/[^"#?]+)', units))
    assert len(paths) == 1 and "imported, not measured here" in units
    page = (out / paths.pop()).read_text()
    assert page.count("<li id=") == 12
    assert 'href="../../imported.html"' in page and 'href="../../imported/weak.html"' in page
    measured = (out / "evidence/weak/evolved-core-seeds.html").read_text()
    assert 'href="../../models/weak.html"' in measured and "not measured here" not in measured


def test_a_part_the_logs_own_verdicts_and_faults_are_shown(tmp_path: Path) -> None:
    """Beside the score; a fault is named with the file as it lies in the results folder."""
    results = imported_results(small_results(tmp_path / "results"))
    path = results / "imported/runs/foreign/evolved/core-seeds.manifest.json"
    said = {"status": "cancelled", "verdicts": "equal in 11 of 12; <a>: theirs passed"}
    change(path, origin=json.loads(path.read_text())["origin"] | said, tasks_in_suite=30)
    broken = results / "imported/runs/weak/evolved/core-seeds.jsonl"
    broken.write_text("nonsense\n" + broken.read_text())
    (notice,) = build_small(tmp_path).notices
    place = "imported/runs/weak/evolved/core-seeds.jsonl, line 1: "
    assert str(notice).startswith(f"{place}expected a JSON object, got 'nonsense'; ")
    assert "models/foreign.html" not in (tmp_path / "_site/imported.html").read_text()
    page = page_text(tmp_path / "_site/imported.html")
    assert page.count(" of 30 tasks") == 1 and "12 of 30 tasks" in page
    assert "the log says of itself: cancelled" in page
    assert "the log’s own verdicts: equal in 11 of 12; &lt;a&gt;: theirs passed" in page
