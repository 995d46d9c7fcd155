"""Tables as CSV: numbers as numbers, every column, and nothing that a spreadsheet runs."""

import csv
import math

import pandas as pd
import pytest

from triathlon_site.build import build  # noqa: F401  (pages are imported before what they export)
from triathlon_site.exports import csv_file, table_files
from triathlon_site.render import Section, Value


def table(head: tuple[str, ...], *rows: tuple[Value, ...]) -> list[dict[str, str]]:
    """The CSV file of a small table, read again."""
    _, file = table_files("data/x.csv", Section("T", "", head, rows))
    return list(csv.DictReader(file.content.splitlines()))


def test_intervals_are_columns_of_numbers() -> None:
    """Also where another row has none, and where an end is negative; texts are never read as numbers."""
    rows = table(
        ("Model", "drop", "without"),
        (
            Value("1_000"),
            Value("−4.2", "−10.5 to +1.0", -4.25, {"low": -10.5, "high": 1}),
            Value("a to b", "", None, {"low": -0.5, "high": math.nan}),
        ),
        (Value("nan"), Value("–", "none to count"), Value("–")),
    )
    assert rows == [
        {"Model": "1_000", "drop": "-4.25", "drop, low": "-10.5", "drop, high": "1"}
        | {"without, low": "-0.5", "without, high": ""},
        {"Model": "nan", "drop": "", "drop, low": "", "drop, high": ""}
        | {"without, low": "", "without, high": ""},
    ]


def test_a_count_beside_an_empty_cell_stays_whole() -> None:
    """`4`, not `4.0`."""
    rows = table(("Model", "n"), (Value("a"), Value("4", number=4)), (Value("b"), Value("–")))
    assert [row["n"] for row in rows] == ["4", ""]


def test_two_columns_of_one_name_are_refused() -> None:
    """One of them would be lost."""
    with pytest.raises(ValueError, match="expected columns of different names, got 'both' twice"):
        table(("Model", "both", "both"), (Value("m"), Value("1"), Value("2")))


@pytest.mark.parametrize("text", ["=cmd|calc", "+1", "-1", "@x", "\t=x", "\r\n=x", " =x", "＝x"])
def test_a_formula_is_quoted(text: str) -> None:
    """Names and headings that a spreadsheet would run get an apostrophe in front; numbers stay."""
    content = csv_file("data/x.csv", pd.DataFrame({text: [text], "n": [-1.5]})).content
    head, row = csv.reader(content.splitlines(keepends=True))
    assert head == [f"'{text}", "n"] and row == [f"'{text}", "-1.5"]
