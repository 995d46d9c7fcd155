"""The columns of a published table, as its row in `sources.csv` lists them."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from triathlon_runner.errors import UserError
from triathlon_site.csv_file import Record

Role = Literal["headline", "baseline", "column", "unranked", "text"]
"""headline: the score that the table ranks by. baseline: what shifts are counted from. column: another score.
unranked: numbers that are no scores, such as counts. text: shown as it is."""
ABOUT_THE_MODEL: Final = frozenset(
    {"model", "organization", "size", "size_b", "link", "in_paper", "kind", "prompted", "open_data"}
)
"""Columns that say what a row is of; where no columns are listed, they are no scores."""


@dataclass(frozen=True, slots=True)
class PublishedColumn:
    """One column of a published table."""

    id: str
    """Its name in the CSV file."""
    title: str
    maximum: float = math.inf
    tasks: str = ""
    """What is known of the tasks behind a score, for its interval: see `spread`."""
    role: Role = "column"
    decimals: int = 0
    """Those that its numbers are shown with: as many as most of them were published with."""

    @property
    def headline(self) -> bool:
        return self.role == "headline"

    @property
    def ranked(self) -> bool:
        return self.role in {"headline", "baseline", "column"}

    @property
    def deviation(self) -> str:
        """Name in the CSV file of the published standard deviation over repeats."""
        return f"{self.id}_std"

    def value(self, record: Record) -> float:
        """Nan for an empty cell.

        Raises:
            UserError: the cell holds something else than a number from 0 to the column's maximum.
        """
        value = number_in(record, self.id)
        if not (math.isnan(value) or 0 <= value <= self.maximum):
            raise UserError(
                f"published figures of {record['model']!r}: expected {self.id} from 0 to {self.maximum:g},"
                f" got {record[self.id]!r}; correct the table in results/published/"
            )
        return value

    def shown(self, value: float) -> str:
        """A number with the column's decimals; shares of 1 in per cent."""
        return f"{100 * value if self.maximum == 1 else value:.{self.decimals}f}"


def number_in(record: Record, field: str) -> float:
    """The number in a cell; nan for an empty one.

    Raises:
        UserError: the cell holds something else.
    """
    text = record.get(field, "")
    if not text:
        return math.nan
    value = _number(text)
    if value is None:
        raise UserError(
            f"published figures of {record['model']!r}: expected a number in {field}, got {text!r};"
            " correct the table in results/published/"
        )
    return value


def whole_number(record: Record, field: str) -> int:
    """The whole number in a cell.

    Raises:
        UserError: the cell holds something else.
    """
    value = number_in(record, field)
    if not value.is_integer():
        raise UserError(
            f"published figures of {record['model']!r}: expected a whole number in {field}, got"
            f" {record.get(field, '')!r}; correct the table in results/published/"
        )
    return int(value)


def columns_of(table: str, listed: str, rows: Sequence[Record]) -> tuple[PublishedColumn, ...]:
    """The columns of a table in the order in which they are shown.

    Args:
        table: its name.
        listed: `column|title|maximum|tasks|role`, with `; ` between columns; what is left out at the end of
            one has its default. Where nothing is listed, every column of numbers is a score and the first is
            the headline. A headline without a maximum has its largest number.
        rows: of the table.

    Raises:
        UserError: a column that the table lacks, a maximum that is no number, an unknown role, two headlines.
    """
    names = list(rows[0]) if rows else []
    columns = [_read(table, entry) for entry in listed.split(";") if entry.strip()]
    if not columns:
        columns = [_guessed(name, rows) for name in names if _is_score(name, names, rows)]
        columns[:1] = [replace(column, role="headline") for column in columns[:1]]
    if rows and (unknown := [c.id for c in columns if c.id not in names]):
        raise _wrong(table, f"expected columns of {table}.csv ({', '.join(names)})", unknown[0])
    if sum(column.headline for column in columns) > 1:
        raise _wrong(table, "expected at most one headline", listed)
    if endless := [column for column in columns if column.headline and math.isinf(column.maximum)]:
        columns[columns.index(endless[0])] = replace(
            endless[0], maximum=max((float(row[endless[0].id] or 0) for row in rows), default=1.0)
        )
    return tuple(replace(column, decimals=_decimals(column, rows)) for column in columns)


def _read(table: str, entry: str) -> PublishedColumn:
    name, title, maximum, tasks, role, *more = (*map(str.strip, entry.split("|")), *[""] * 4)
    most = _number(maximum) if maximum else math.inf
    if any(more) or most is None or role not in ("", *get_args(Role)):
        raise _wrong(table, f"expected column|title|maximum|tasks|role, a role of {get_args(Role)}", entry)
    found: Role = next((known for known in get_args(Role) if known == role), "column")
    return PublishedColumn(name, title or name.replace("_", " "), most, tasks, found)


def _wrong(table: str, expected: str, got: str) -> UserError:
    return UserError(f"sources.csv, row {table!r}, cell 'columns': {expected}, got {got!r}; correct the cell")


def _is_score(name: str, names: Sequence[str], rows: Sequence[Record]) -> bool:
    cells = [row[name] for row in rows if row[name]]
    describes = name in ABOUT_THE_MODEL or (name.endswith("_std") and name.removesuffix("_std") in names)
    return not describes and bool(cells) and all(_number(cell) is not None for cell in cells)


def _guessed(name: str, rows: Sequence[Record]) -> PublishedColumn:
    most = max(number_in(row, name) for row in rows if row[name])
    return PublishedColumn(name, name.replace("_", " "), 1.0 if most <= 1 else max(most, 100.0))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _decimals(column: PublishedColumn, rows: Sequence[Record]) -> int:
    if column.role == "text":
        return 0
    known = [row[column.id] for row in rows if not math.isnan(number_in(row, column.id))]
    counts = Counter(len(text.partition(".")[2]) for text in known)
    common = max(counts, key=lambda decimals: (counts[decimals], decimals), default=0)
    return max(0, common - 2 if column.maximum == 1 else common)
