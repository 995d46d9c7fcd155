"""The page of all models: every model of every source once, with the overall index."""

import csv
import io
import re
from pathlib import Path

import pytest

from triathlon_runner.errors import UserError
from triathlon_site.pages.all_models import PATH, drafts
from triathlon_site.published import Published, all_models, published_boards, read_facts, read_published
from triathlon_site.render import Draft, installed_environment

FOLDER = Path(__file__).parents[3] / "results" / "published"


@pytest.fixture(scope="module")
def published() -> Published:
    found = read_published(FOLDER)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def draft(published: Published) -> Draft:
    boards = published_boards(published)
    (page,) = drafts(published, boards, {board.id: f"published/{board.id}.html" for board in boards})
    return page


def test_every_model_has_one_row(published: Published) -> None:
    """All models with a figure in a column of the index are there, once, ordered by the index."""
    found = all_models(published, published_boards(published))
    assert found is not None
    names = [line.name for line in found.lines]
    assert len(names) == len(set(names)) > 240
    assert [line.index.rank for line in found.lines] == sorted(line.index.rank for line in found.lines)


def test_new_models_with_a_single_column_are_not_hidden(published: Published) -> None:
    """The strongest models of the loop, which have no other column, stand among the first twenty."""
    found = all_models(published, published_boards(published))
    assert found is not None
    first = {line.name for line in found.lines[:20]}
    assert {"GPT-5", "Claude Opus 4", "Claude Sonnet 4"} <= first


def test_figures_are_those_of_the_tables(published: Published) -> None:
    """A cell shows what its table says, and never anything where no table has the model."""
    boards = {board.id: board for board in published_boards(published)}
    found = all_models(published, list(boards.values()))
    assert found is not None
    by_name = {line.name: line for line in found.lines}
    best = by_name["Claude Opus 4"]
    assert best.cells["loop"].score.value == 7.786
    assert set(best.cells) == {"loop"}
    assert best.index.columns == 1


def test_the_page_shows_every_row_and_links_its_sources(draft: Draft) -> None:
    """Each figure links to the table that it was copied from, and the CSV file has the same models."""
    html = installed_environment().render(
        draft.context.template, root="", here=PATH, links=[], site=Site(), **draft.context.variables()
    )
    rows = list(csv.DictReader(io.StringIO(draft.files[0].content)))
    assert html.count('<th scope="row"') == len(rows)
    assert 'href="published/evaloop.html" title="reported by EVALOOOP, 2025-09-29"' in html
    assert "not\nchecked" in html or "not checked" in html


class Site:
    """What the frame of every page asks of the site."""

    boards = ()
    date = None
    version = "0"


def test_known_facts(published: Published) -> None:
    """At least 85 % of the models have organisation, weights, size or that it is undisclosed, and month."""
    found = all_models(published, published_boards(published))
    assert found is not None
    known = [
        line
        for line in found.lines
        if line.facts.organization
        and line.facts.open_weights
        and line.facts.parameters_b
        and line.facts.released
    ]
    assert len(known) >= 0.85 * len(found.lines)
    names = {record["model"] for table in published.tables.values() for record in table}
    assert set(published.facts) <= names | {alias["model"] for alias in published.aliases}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("parameters_b", "many", "parameters_b: expected a number, got 'many'"),
        ("open_weights", "maybe", "open_weights: expected yes or no, got 'maybe'"),
        ("released", "2024", "released: expected a month such as 2024-11, got '2024'"),
        ("source", "javascript:alert(1)", "source: expected an address that begins with https://"),
    ],
)
def test_a_fact_of_another_kind_is_refused(tmp_path: Path, field: str, value: str, message: str) -> None:
    """The message names line, field, value and model."""
    rows = list(csv.DictReader((FOLDER / "models-info.csv").read_text("utf-8").splitlines()))[:1]
    rows[0][field] = value
    with (tmp_path / "models-info.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(UserError, match=re.escape(message)):
        read_facts(tmp_path)
