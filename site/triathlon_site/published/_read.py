"""The CSV files of `results/published/`, and one model under the names that they give it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.models import ModelInfo, Record, read_facts, read_table

_MONTH: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


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
    """What of it is shown, in which order: see `columns_of`."""

    @property
    def ranks(self) -> bool:
        """Whether it ranks models, each by one row."""
        return "headline" in self.columns


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A product as one source ran it."""

    product: str
    """The name of the product's row in the table of all models."""
    model: str
    """The snapshot's own name on all pages."""
    snapshot: str
    """What the source states: `0613`, `Aug 2024`; empty where it states nothing."""
    month: str
    """Of that snapshot, such as `2024-08`; empty where the source states none."""


@dataclass(frozen=True, slots=True)
class Published:
    """All tables, as text."""

    tables: dict[str, tuple[Record, ...]] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    aliases: tuple[Record, ...] = ()
    """One model a row: its name in each source, empty where it is not there."""
    doubtful: tuple[Record, ...] = ()
    """Two names that may mean one model, and why they are not joined, a pair a row."""
    products: Mapping[tuple[str, str], Snapshot] = field(default_factory=dict)
    """By table and name of a model there: the product that it is a snapshot of."""
    facts: Mapping[str, ModelInfo] = field(default_factory=dict)
    """By name of a model; empty where nobody wrote any down."""
    fact_sources: tuple[Record, ...] = ()
    """Where the facts were read; none where there are no facts."""


def read_published(folder: Path) -> Published:
    """All tables of a folder; none where there is no such folder.

    Raises:
        UserError: a table that cannot be read or is missing, a model or a name in two rows, an alias or a
            product of a name that its table does not have.
    """
    if not folder.is_dir():
        return Published()
    source_columns = [field.name for field in fields(Source)]
    sources = {row["table"]: Source(**row) for row in read_table(folder / "sources.csv", source_columns)}
    aliases = read_table(folder / "aliases.csv", ("model",))
    alias_sources = [name for name in aliases[0] if name != "model"] if aliases else []
    if missing := [name for name in alias_sources if name not in sources]:
        raise UserError(f"{folder / 'sources.csv'}: no row for the table {missing[0]!r}")
    tables = {name: read_table(folder / f"{name}.csv", ("model",)) for name in sources}
    doubt_columns = ("source", "name", "other_source", "other_name", "reason")
    doubtful = read_table(folder / "doubtful_aliases.csv", doubt_columns)
    _refuse_repeated(folder / "aliases.csv", "model", aliases)
    for name in (source.table for source in sources.values() if source.ranks):
        _refuse_repeated(folder / f"{name}.csv", "model", tables[name])
    for name in alias_sources:
        _refuse_repeated(folder / "aliases.csv", name, aliases)
        known = {"", *(row["model"] for row in tables[name])}
        if unknown := [row[name] for row in aliases if row[name] not in known]:
            raise UserError(f"{folder / 'aliases.csv'}: {name}.csv has no model {unknown[0]!r}")
    products = _products(folder / "products.csv", tables)
    facts = read_facts(folder)
    fact_sources = read_table(folder / "fact_sources.csv", ("source", "read", "address")) if facts else ()
    return Published(tables, sources, aliases, doubtful, products, facts, fact_sources)


def _products(path: Path, tables: Mapping[str, Sequence[Record]]) -> Mapping[tuple[str, str], Snapshot]:
    """The rows of `products.csv`, by table and name there; none where there is no such file."""
    products: dict[tuple[str, str], Snapshot] = {}
    columns = ("product", "model", "source", "name", "snapshot", "month")
    for row in read_table(path, columns) if path.exists() else ():
        source, name, month = row["source"], row["name"], row["month"]
        if name not in {record["model"] for record in tables.get(source, ())}:
            raise UserError(f"{path}: expected a name of {source}.csv, got {name!r}; correct the row")
        if (source, name) in products:
            raise UserError(f"{path}: expected {name!r} of {source!r} in one row, got it in two")
        if month and not _MONTH.fullmatch(month):
            raise UserError(f"{path}: expected a month such as 2024-08 for {name!r}, got {month!r}")
        products[source, name] = Snapshot(row["product"], row["model"], row["snapshot"], month)
    return products


def _refuse_repeated(path: Path, column: str, rows: Sequence[Record]) -> None:
    counts = Counter(row[column] for row in rows if row[column])
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise UserError(
            f"{path}: expected {repeated[0]!r} in one row of the column {column!r}, got it in"
            f" {counts[repeated[0]]}; remove it from the others, or make one row of them"
        )
