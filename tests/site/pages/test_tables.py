"""Every table has its files: CSV to compute with, LaTeX for papers."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from support.site import build_small, small_results

PUBLISHED = Path(__file__).parents[3] / "results" / "published"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with published figures."""
    root = tmp_path_factory.mktemp("tables")
    shutil.copytree(PUBLISHED, small_results(root / "results") / "published")
    build_small(root)
    return root / "_site"


def test_the_agreement_of_every_pair_is_a_table(out: Path) -> None:
    """A row a pair of columns, each page of a pair among them."""
    rows = list(csv.DictReader((out / "data/agreement.csv").read_text().splitlines()))
    assert len(rows) == len(list((out / "agreement").iterdir()))
    assert {row["Models"] for row in rows} == {"3"}
    assert {row["With a reported figure"] for row in rows} == {"0"}
    assert (out / "data/agreement.tex").read_text().count(r"\\") == len(rows) + 1


@pytest.mark.parametrize("source", ["evaloop", "reval", "evoeval", "evalplus", "cruxeval"])
def test_published_tables_have_csv_and_latex(out: Path, source: str) -> None:
    """The ranking and each smaller table below it; the links on the page lead to files that are there."""
    page = (out / f"published/{source}.html").read_text()
    linked = re.findall(r'href="\.\./(data/published-[^"]+)"', page)
    assert f"data/published-{source}.tex" in linked
    for path in linked:
        text = (out / path).read_text()
        assert text.startswith("% ") if path.endswith(".tex") else text.count("\n") > 1
    head, *rows = re.findall(r"(.*) \\\\", (out / f"data/published-{source}.tex").read_text())
    assert head.startswith("Rank & Model & ") and len(rows) == page.count('<td class="rank"')
