"""Every fact of a model names where it was read."""

import csv
import re
from pathlib import Path

import pytest

from triathlon_runner.errors import UserError
from triathlon_site.published import ModelFacts, count_facts, read_facts, read_published
from triathlon_site.published._facts import FactSource, read_fact_sources

FOLDER = Path(__file__).parents[3] / "results" / "published"


def write_row(folder: Path, **changes: str) -> None:
    """A file with the first committed row, with `changes`."""
    rows = list(csv.DictReader((FOLDER / "models-info.csv").read_text("utf-8").splitlines()))[:1]
    with (folder / "models-info.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerow(rows[0] | changes)


def test_facts_are_counted_by_kind_and_by_source() -> None:
    """A model counts as complete with organisation, size, open weights and month."""
    facts = {
        "a": ModelFacts(
            "a",
            "A",
            "7",
            open_weights="yes",
            released="2024-01",
            sources="organization=x parameters_b=name open_weights=x released=x",
        ),
        "b": ModelFacts("b", "B", sources="organization=name"),
    }
    sources = tuple(FactSource(name, "", "") for name in ("name", "x", "unused"))
    found = count_facts(facts, sources)
    assert (found.models, found.complete) == (2, 1)
    assert found.known["organization"] == 2
    assert found.known["price"] == 0
    assert [(source.source, number) for source, number in found.sources] == [
        ("x", 3),
        ("name", 2),
        ("unused", 0),
    ]


def test_the_committed_facts_have_sources_and_are_nearly_complete() -> None:
    """Organisation, size or `undisclosed`, open weights and month: at least 85 of 100 models."""
    published = read_published(FOLDER)
    assert published is not None
    found = count_facts(published.facts, published.fact_sources)
    assert found.complete >= 0.85 * found.models
    assert all(number for _, number in found.sources)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (
            "organization=evalplus",
            "sources: expected one source of parameters_b, got 'organization=evalplus'",
        ),
        ("size=name", "sources: expected organization or parameters_b"),
        ("organization", "sources: expected organization or parameters_b"),
    ],
)
def test_a_fact_without_a_source_is_refused(tmp_path: Path, sources: str, message: str) -> None:
    """The message names the line, the fact and the model."""
    write_row(tmp_path, sources=sources)
    with pytest.raises(UserError, match=r"line 2: " + re.escape(message)):
        read_facts(tmp_path)


def test_a_source_without_its_fact_is_refused(tmp_path: Path) -> None:
    """A fact that was emptied, with its source left behind."""
    write_row(tmp_path, released="")
    with pytest.raises(UserError, match="expected no source of released, which is not known"):
        read_facts(tmp_path)


def test_a_price_needs_its_date_and_link(tmp_path: Path) -> None:
    """As a list price changes, it says when it was read, and where."""
    with (FOLDER / "models-info.csv").open(newline="", encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if row["price_in"])
    write_row(tmp_path, **row | {"price_date": ""})
    with pytest.raises(UserError, match="price_date: expected a value beside the price, got ''"):
        read_facts(tmp_path)


def test_a_source_that_is_not_listed_is_refused(tmp_path: Path) -> None:
    """The message names source, fact and model."""
    (tmp_path / "fact_sources.csv").write_text("source,read,address\nname,the name,\n")
    facts = {"a": ModelFacts("a", "A", sources="organization=memory")}
    with pytest.raises(UserError, match="no row 'memory', where organization of 'a' was read"):
        read_fact_sources(tmp_path, facts)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("name,again,", "a second row of 'name'"),
        ("x,page,example.org", "begins with https://, got 'example.org'"),
    ],
)
def test_a_damaged_list_of_sources_is_refused(tmp_path: Path, row: str, message: str) -> None:
    """By line."""
    (tmp_path / "fact_sources.csv").write_text(f"source,read,address\nname,the name,\n{row}\n")
    with pytest.raises(UserError, match=f"line 3: .*{re.escape(message)}"):
        read_fact_sources(tmp_path, {"a": ModelFacts("a")})
