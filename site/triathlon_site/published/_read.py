"""The CSV files of `results/published/`, and one model under the names that they give it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.csv_file import Record, read_table
from triathlon_site.models import ModelInfo, read_facts
from triathlon_site.published._facts import FactCounts, count_facts

DOUBT_COLUMNS: Final = ("source", "name", "other_source", "other_name", "reason")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table was published."""

    table: str
    short: str
    title: str
    part: str
    as_of: str
    note: str
    discipline: str
    """Whose colour it has: a discipline, or `baseline`."""
    columns: str
    """What of it is shown, in which order; empty: every column of numbers. See `columns_of`."""


@dataclass(frozen=True, slots=True)
class Published:
    """All tables, as text."""

    tables: dict[str, tuple[Record, ...]]
    sources: dict[str, Source]
    aliases: tuple[Record, ...]
    """One model a row: its name in each source, empty where it is not there."""
    doubtful: tuple[Record, ...]
    """Two names that may mean one model, and why they are not joined, a pair a row."""
    facts: Mapping[str, ModelInfo]
    """By name of a model; empty where nobody wrote any down."""
    fact_counts: FactCounts | None

    def rows(self, table: str) -> Sequence[Record]:
        """The rows of one table; none where `sources.csv` does not name it."""
        return self.tables.get(table, ())


def read_published(folder: Path) -> Published | None:
    """None where there is no such folder.

    Raises:
        UserError: a table that cannot be read or is missing, a row with cells too few or too many, a model
            twice in a ranking, an alias of a name that its table does not have, or a name in two rows of
            the aliases.
    """
    if not folder.is_dir():
        return None
    source_columns = [field.name for field in fields(Source)]
    sources = {row["table"]: Source(**row) for row in read_table(folder / "sources.csv", source_columns)}
    aliases = read_table(folder / "aliases.csv", ("model",))
    alias_sources = [name for name in aliases[0] if name != "model"] if aliases else []
    if missing := [name for name in alias_sources if name not in sources]:
        raise UserError(f"{folder / 'sources.csv'}: no row for the table {missing[0]!r}")
    tables = {name: read_table(folder / f"{name}.csv", ("model",)) for name in sources}
    doubtful = read_table(folder / "doubtful_aliases.csv", DOUBT_COLUMNS)
    _refuse_repeated(folder / "aliases.csv", "model", aliases)
    for name in alias_sources:
        _refuse_repeated(folder / f"{name}.csv", "model", tables[name])
        _refuse_repeated(folder / "aliases.csv", name, aliases)
        known = {"", *(row["model"] for row in tables[name])}
        if unknown := [row[name] for row in aliases if row[name] not in known]:
            raise UserError(f"{folder / 'aliases.csv'}: {name}.csv has no model {unknown[0]!r}")
    return Published(tables, sources, aliases, doubtful, read_facts(folder), count_facts(folder))


def _refuse_repeated(path: Path, column: str, rows: Sequence[Record]) -> None:
    counts = Counter(row[column] for row in rows if row[column])
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise UserError(
            f"{path}: expected {repeated[0]!r} in one row of the column {column!r}, got it in"
            f" {counts[repeated[0]]}; remove it from the others, or make one row of them"
        )
