"""When results were made."""

import json
from pathlib import Path

import pytest

from support.site import build_small, page_text, small_results
from triathlon_site.pages.overall import is_old
from triathlon_site.render.formats import age


@pytest.mark.parametrize(
    ("ended", "newest", "old"),
    [
        ("2026-01-02", "2026-01-02", False),
        ("2025-07-04", "2026-01-02", False),
        ("2025-07-01", "2026-01-02", True),
        ("someday", "2026-01-02", False),
    ],
)
def test_half_a_year_is_old(ended: str, newest: str, old: bool) -> None:
    """Counted from the newest result; a date that is none is not called old."""
    assert is_old(ended, newest) is old


def test_an_old_result_is_marked(tmp_path: Path) -> None:
    """The front page says when everything was measured, and which result is old."""
    results = small_results(tmp_path / "results")
    for path in (results / "runs/weak").rglob("*.manifest.json"):
        manifest = json.loads(path.read_text())
        path.write_text(json.dumps({**manifest, "ended": "2025-01-02T03:04:05Z"}))
    build_small(tmp_path)
    page = page_text(tmp_path / "_site/index.html")
    assert "Measured from 2025-01-02 to 2026-01-02." in page
    assert page.count('<span class="flag">old</span>') == 1
    assert "1 result is more than half a year older" in page


@pytest.mark.parametrize(
    ("as_of", "newest", "said"),
    [
        ("2024-04-06", "2026-01-02", ", 1.7 years older than our newest result"),
        ("2024", "2026-01-02", ", 1.5 years older than our newest result"),
        ("2025-09-29", "2026-01-02", ""),
        ("some day", "2026-01-02", ""),
        ("2024", "", ""),
    ],
)
def test_a_source_says_how_old_it_is(as_of: str, newest: str, said: str) -> None:
    """Beside our newest result, not the clock; a year counts from its middle; nothing under half a year."""
    assert age(as_of, newest) == said
