"""What others published, as this checkout has it."""

from pathlib import Path

import pytest

from triathlon_site.published import Published, PublishedTable, published_tables, read_published

FOLDER = Path(__file__).parents[2] / "results" / "published"


@pytest.fixture(scope="module")
def published() -> Published:
    found = read_published(FOLDER)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def tables(published: Published) -> dict[str, PublishedTable]:
    return {table.id: table for table in published_tables(published)}
