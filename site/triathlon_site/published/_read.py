"""The CSV files of `results/published/`, and one model under the names that they give it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.csv_file import Record, read_table
from triathlon_site.models import ModelInfo, read_facts
from triathlon_site.published._facts import FactCounts, count_facts

ALIAS_SOURCES: Final = ("evaloop", "reval", "evoeval", "evalplus", "cruxeval")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table was published."""

    table: str
    short: str
    title: str
    part: str
    as_of: str
    note: str


@dataclass(frozen=True, slots=True)
class DoubtfulAlias:
    """Two names that may mean one model, and why they are not joined."""

    source: str
    name: str
    other_source: str
    other_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Published:
    """All tables, as text."""

    tables: dict[str, tuple[Record, ...]]
    sources: dict[str, Source]
    aliases: tuple[Record, ...]
    """One model a row: its name in each source, empty where it is not there."""
    doubtful: tuple[DoubtfulAlias, ...]
    facts: Mapping[str, ModelInfo]
    """By name of a model; empty where nobody wrote any down."""
    fact_counts: FactCounts | None


def read_published(folder: Path) -> Published | None:
    """None where there is no such folder.

    Raises:
        UserError: a table that cannot be read or is missing, a row with cells too few or too many, a model
            twice in a ranking, an alias of a name that its table does not have, or a name in two rows of
            the aliases.
    """
    if not folder.is_dir():
        return None
    source_columns, doubt_columns = ([f.name for f in fields(kind)] for kind in (Source, DoubtfulAlias))
    sources = {row["table"]: Source(**row) for row in read_table(folder / "sources.csv", source_columns)}
    if missing := [name for name in ALIAS_SOURCES if name not in sources]:
        raise UserError(f"{folder / 'sources.csv'}: no row for the table {missing[0]!r}")
    tables = {name: read_table(folder / f"{name}.csv", ("model",)) for name in sources}
    aliases = read_table(folder / "aliases.csv", ("model", *ALIAS_SOURCES))
    doubtful = read_table(folder / "doubtful_aliases.csv", doubt_columns)
    for name in ALIAS_SOURCES:
        for model, count in Counter(row["model"] for row in tables[name]).items():
            if count > 1:
                raise UserError(f"{folder / f'{name}.csv'}: two rows of {model!r}; a model has one")
    _check_aliases(folder, tables, aliases)
    doubts = tuple(DoubtfulAlias(**row) for row in doubtful)
    return Published(tables, sources, aliases, doubts, read_facts(folder), count_facts(folder))


def _check_aliases(folder: Path, tables: dict[str, tuple[Record, ...]], aliases: tuple[Record, ...]) -> None:
    path = folder / "aliases.csv"
    names = {source: {record["model"] for record in tables[source]} for source in ALIAS_SOURCES}
    first: dict[tuple[str, str], tuple[int, str]] = {}
    for line, row in enumerate(aliases, start=2):
        for source in ALIAS_SOURCES:
            if row[source] and row[source] not in names[source]:
                raise UserError(f"{path}, line {line}: {source}.csv has no model {row[source]!r}")
        for column in ("model", *ALIAS_SOURCES):
            name, model = row[column], row["model"]
            if not name:
                continue
            line_before, model_before = first.setdefault((column, name), (line, model))
            if line_before != line:
                raise UserError(
                    f"{path}, line {line}: expected {name!r} in one row of the column {column!r}, got it here"
                    f" for the model {model!r} and in line {line_before} for {model_before!r}; remove it"
                    " from one of them, or make one row of both"
                )
