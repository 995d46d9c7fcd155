"""A page and the data file beside it say the same."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.results import FakeModel
from support.site import build_small, small_results

CELL = re.compile(r'<(?:td|th)[^>]* data-v="(?P<sort>[^"]*)"[^>]*>(?P<shown>.*?)</(?:td|th)>', re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four models, two of them of equal strength."""
    root = tmp_path_factory.mktemp("equal")
    models = [
        FakeModel(name, skill, 0.9)
        for name, skill in (("a", 2.0), ("b", 1.0), ("c", 1.0), ("d", -9.0), ("e", 0.0))
    ]
    small_results(root / "results", models)
    build_small(root)
    return root / "_site"


def numbers(html: str) -> list[str]:
    """Every number that a part of a page shows."""
    return NUMBER.findall(re.sub(r"<[^>]*>", " ", html.replace("\N{MINUS SIGN}", "-")))


def same(shown: str, exact: str, times: int) -> bool:
    """Whether a number, as a page rounds it, is the one of the file."""
    return f"{float(exact) * times:.{len(shown.partition('.')[2])}f}" == shown


def table(page: str) -> Iterator[tuple[str, dict[str, re.Match[str]]]]:
    """Model and cells by column of the first table of a page."""
    head, body = re.findall(r"<thead>(.*?)</thead>\s*<tbody>(.*?)</tbody>", page, re.DOTALL)[0]
    titles = [
        re.sub(r"\s*<small>.*?</small>", "", cell, flags=re.DOTALL).strip()
        for cell in re.findall(r"<th[^>]*>(.*?)</th>", head, re.DOTALL)
    ]
    for model, row in re.findall(r'<tr id="([^"]+)".*?>(.*?)</tr>', body, re.DOTALL):
        yield model, dict(zip(titles, CELL.finditer(row), strict=True))


@pytest.mark.parametrize("board", ["loop", "runtime"])
def test_every_number_of_a_board_is_that_of_its_file(site: Path, board: str) -> None:
    """Score, interval, rank, tier, shift, tasks and open units of each model, as the page rounds them."""
    rows = csv.DictReader((site / f"data/{board}-core.csv").read_text().splitlines())
    found = {(row["model"], row["title"]): row for row in rows}
    headline = next(iter(found.values()))["title"]
    compared = 0
    for model, cells in table((site / f"{board}.html").read_text()):
        first = found[model, headline]
        assert cells["Rank"]["sort"] == first["rank"]
        assert numbers(cells["Rank"]["shown"])[0] == first["rank"]
        assert cells["Tier"]["sort"] == first["tier"]
        assert cells["Rank shift"]["sort"] == first["rank_shift"]
        counts = {name: cells[name]["sort"] for name in cells if name in {"Tasks", "Programs", "Open"}}
        assert list(counts.values()) == [first["tasks"], first["open_units"]]
        for title, cell in cells.items():
            if 'class="score' not in cell[0]:
                continue
            row = found[model, title]
            times = 1 if float(row["high"]) > 1 or title in {"ASL", headline} else 100
            value, low, high, *rank = numbers(cell["shown"])
            assert float(cell["sort"]) == float(row["score"])
            assert same(value, row["score"], times) and same(low, row["low"], times), (model, title)
            assert same(high, row["high"], times), (model, title)
            placed = [row["rank"], row["rank_low"], row["rank_high"], row["tier"], row["rank_shift"]]
            assert rank == placed[: len(rank)], (model, title)
            compared += 1
    assert compared >= 12
