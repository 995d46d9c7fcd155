"""Every fact of a model names where it was read."""

import re
from collections import Counter
from pathlib import Path

import pytest

from triathlon_runner.errors import UserError
from triathlon_site.csv_file import read_table
from triathlon_site.models import FACT_COLUMNS, read_facts
from triathlon_site.published import read_published

FOLDER = Path(__file__).parents[3] / "results" / "published"
NUMBER, MONTH, ADDRESS = r"\d+(\.\d+)?", r"\d{4}-(0[1-9]|1[0-2])", r"https://\S+"
FORMS = {
    "model": ".+",
    "parameters_b": f"undisclosed|{NUMBER}",
    "active_b": NUMBER,
    "open_weights": "yes|no",
    "released": MONTH,
    "context": r"\d+",
    "card": ADDRESS,
}
"""By column, what a cell with something in it must be."""
PRICE = {"price_in": NUMBER, "price_out": NUMBER, "price_date": MONTH, "price_link": ADDRESS}
"""As a list price changes, it says when it was read, and where."""
FACTS = (*FACT_COLUMNS[1:8], "price")


def test_every_committed_fact_is_one_and_has_a_source() -> None:
    """Each cell has its form, each fact one listed source, each source its fact, each model one row."""
    rows = read_table(FOLDER / "models-info.csv", ())
    listed = read_table(FOLDER / "fact_sources.csv", ("source", "read", "address"))
    for row in rows:
        assert tuple(row) == FACT_COLUMNS
        priced = any(row[name] for name in PRICE)
        for name, form in (FORMS | PRICE).items():
            optional = not priced if name in PRICE else name != "model"
            assert re.fullmatch(form, row[name]) or (optional and not row[name]), (row["model"], name)
        known = [fact for fact in FACTS if (priced if fact == "price" else row[fact])]
        pairs = [pair.split("=", 1) for pair in row["sources"].split()]
        assert [fact for fact, _ in pairs] == known, row["model"]
        assert {source for _, source in pairs} <= {source["source"] for source in listed}, row["model"]
    assert all(re.fullmatch(ADDRESS, source["address"] or "https://name") for source in listed)
    for names in ([row["model"] for row in rows], [source["source"] for source in listed]):
        assert max(Counter(names).values()) == 1


def test_the_committed_facts_are_counted_and_nearly_complete() -> None:
    """Organisation, size or `undisclosed`, open weights and month: at least 85 of 100 models."""
    published = read_published(FOLDER)
    assert published is not None and published.fact_counts is not None
    counts = published.fact_counts
    assert counts.models == len(published.facts)
    assert counts.models > counts.complete >= 0.85 * counts.models
    known = [info for info in published.facts.values() if info.organization]
    assert counts.known["organization"] == len(known)
    numbers = [number for _, number in counts.sources]
    assert sum(numbers) == sum(counts.known.values())
    assert numbers == sorted(numbers, reverse=True) and min(numbers) > 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("price_in", "price", "expected a column 'price_in'"),
        ("Baichuan,32,", "Baichuan,32,many", "facts of 'Baichuan-M2-32B': .*'many'"),
        ("2025-08", "August", "facts of 'Baichuan-M2-32B': .*'August-01'"),
    ],
)
def test_an_unreadable_file_of_facts_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    """The message names the file, and the column or the model with what stands there."""
    text = (FOLDER / "models-info.csv").read_text("utf-8")
    assert old in text
    (tmp_path / "models-info.csv").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(UserError, match=rf"models-info\.csv: {message}"):
        read_facts(tmp_path)
