"""What others published, and a site that several files of tests read, gathered and rendered once a run."""

from pathlib import Path

import pytest

from support.golden import golden_site
from support.results import FakeModel
from support.site import PUBLISHED, rendered_texts, rich_results
from triathlon_site.build import gather
from triathlon_site.pages import Gathered
from triathlon_site.published import Published, PublishedTable, published_tables, read_published


@pytest.fixture(scope="module")
def published() -> Published:
    found = read_published(PUBLISHED)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def tables(published: Published) -> dict[str, PublishedTable]:
    return {table.id: table for table in published_tables(published)}


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """Four models on every suite of our own, with every kind of variant; one of them solves nothing."""
    root = tmp_path_factory.mktemp("rich")
    skills = (("strong", 2.0, 0.95), ("middle", 0.5, 0.8), ("fair", 0.0, 0.9), ("weak", -9.0, 0.1))
    models = [FakeModel(name, skill, keeps) for name, skill, keeps in skills]
    return gather(rich_results(root, models, tasks=10), None, cache=root / "cache")


@pytest.fixture(scope="session")
def rich_pages(rich: Gathered) -> dict[str, str]:
    """Its pages and data files, by path."""
    return rendered_texts(rich)


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden site, of results that have faults."""
    golden_site(root := tmp_path_factory.mktemp("golden"))
    return root / "_site"
