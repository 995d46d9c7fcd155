"""The page of the data files: what it links is there, searches for data sets can read it; our problems."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from support.results import FakeModel
from support.site import build_small, small_results
from triathlon_runner.models_yaml import Registry
from triathlon_site.build import Options, build
from triathlon_site.load import Results
from triathlon_site.pages.method import core_draft

HOSTILE = "</script><script>alert('x')</script><!-- &amp; \u2028\u202e"
URL = "https://board.example/code/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models on the main suites."""
    root = tmp_path_factory.mktemp("data")
    build_small(root)
    return root / "_site"


def json_ld(page: Path) -> dict[str, Any]:
    """The content of the `ld+json` tag up to the first end of a script, as a browser reads it."""
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script', page.read_text(), re.DOTALL)
    assert len(found) == 1
    content: dict[str, Any] = json.loads(found[0])
    return content


def test_the_page_is_a_data_set_of_schema_org(site: Path) -> None:
    """Name, description of 50 to 5,000 characters, and an address of every file, which is there."""
    found = json_ld(site / "data.html")
    assert (found["@context"], found["@type"]) == ("https://schema.org/", "Dataset")
    assert found["name"] and 50 <= len(found["description"]) <= 5000
    assert [one["name"] for one in found["mentions"]] == ["strong", "middle", "weak"]
    addresses = [one["contentUrl"] for one in found["distribution"]]
    assert "data/loop-core.csv" in addresses
    assert [path for path in addresses if not (site / path).is_file()] == []
    assert {one["encodingFormat"] for one in found["distribution"]} == {
        "text/csv",
        "application/json",
        "application/vnd.apache.parquet",
    }


def test_a_name_cannot_leave_the_json(tmp_path: Path) -> None:
    """A model called `</script>` stays a text of the JSON; links are whole where the address is known."""
    small_results(tmp_path / "results", (FakeModel("evil", 1.0), FakeModel("other", 0.0)), tasks=4)
    api = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    registry = Registry.model_validate({"models": [{"id": "evil", "name": HOSTILE, "api": api}]})
    build(tmp_path / "results", tmp_path / "_site", registry, Options(url=URL))
    found = json_ld(tmp_path / "_site/data.html")
    assert HOSTILE in {one["name"] for one in found["mentions"]}
    assert found["url"] == f"{URL}data.html"
    assert all(one["contentUrl"].startswith(f"{URL}data/") for one in found["distribution"])
    assert "<script>alert" not in (tmp_path / "_site/data.html").read_text()


def test_exports_are_linked(site: Path) -> None:
    """Every format of `triathlon export` stands there with its command."""
    page = (site / "data.html").read_text()
    for name in ("every-eval-ever", "hf-eval-results", "evalplus", "inspect"):
        assert f"<code>triathlon export {name} --out exported</code>" in page
    links = re.findall(r'href="(data/[^"]+)"', page)
    assert {"data/core/problems.jsonl", "data/core/croissant.json"} <= set(links)
    assert [path for path in links if not (site / path).is_file()] == []


def _results(*outcomes: tuple[str, str, int]) -> Results:
    tasks = [
        SimpleNamespace(task_id=task, outcome=outcome, sample=sample) for task, outcome, sample in outcomes
    ]
    found: dict[str, Any] = {"m": SimpleNamespace(tasks=tasks)}
    return cast(
        "Results", SimpleNamespace(of_suite=lambda suite: found if suite == "evolved/core-seeds" else {})
    )


def test_levels_count_the_first_sample_of_each_seed() -> None:
    """Solved of run, by level; a second sample and a task that is no seed any more count nowhere."""
    (row,) = core_draft(
        _results(
            ("core/seeds/mirror-name", "passed", 0),
            ("core/seeds/mirror-name", "failed", 1),
            ("core/seeds/draw-line", "crashed", 0),
            ("core/seeds/open-minutes", "passed", 0),
            ("core/seeds/of-old", "passed", 0),
        )
    ).values["rows"]
    assert row == ("m", [(1, 2), (0, 0), (0, 0), (1, 1), (0, 0)])


def test_the_card_is_that_of_the_package() -> None:
    """Its headings and tables come out as HTML."""
    card = core_draft(_results()).values["card"]
    assert "<h2>Known limits</h2>" in card
    assert "<table>" in card
