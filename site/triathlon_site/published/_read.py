"""The CSV files of `results/published/`."""

import csv
import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.published._facts import ModelFacts, read_facts

Record = dict[str, str]
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
    facts: Mapping[str, ModelFacts]
    """By name of a model; empty where nobody wrote any down."""


def read_published(folder: Path) -> Published | None:
    """None where there is no such folder.

    Raises:
        UserError: a table that cannot be read or is missing, a row with cells too few or too many, a model
            twice in a ranking, or an alias of a name that its table does not have.
    """
    if not folder.is_dir():
        return None
    sources = {row["table"]: Source(**row) for row in _read(folder / "sources.csv", _fields(Source))}
    missing = [name for name in ALIAS_SOURCES if name not in sources]
    if missing:
        raise UserError(f"{folder / 'sources.csv'}: no row for the table {missing[0]!r}")
    tables = {name: _read(folder / f"{name}.csv", ("model",)) for name in sources}
    aliases = _read(folder / "aliases.csv", ("model", *ALIAS_SOURCES))
    doubtful = _read(folder / "doubtful_aliases.csv", _fields(DoubtfulAlias))
    for name in ALIAS_SOURCES:
        _check_names(folder / f"{name}.csv", tables[name])
    _check_aliases(folder, tables, aliases)
    doubts = tuple(DoubtfulAlias(**row) for row in doubtful)
    return Published(tables, sources, aliases, doubts, read_facts(folder))


def _fields(of: type[Source | DoubtfulAlias]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(of))


def _read(path: Path, expected: Sequence[str]) -> tuple[Record, ...]:
    """Every row with every cell; `expected` are the columns that must be there."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            head = next(lines, [])
            rows = [(lines.line_num, cells) for cells in lines if cells]
    except OSError as error:
        raise UserError(f"cannot read the published figures in {str(path)!r} ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: expected a CSV file in UTF-8: {error}") from None
    for name in expected:
        if name not in head:
            raise UserError(f"{path}: expected a column {name!r}, got {', '.join(head)}")
    for line, cells in rows:
        if len(cells) != len(head):
            raise UserError(f"{path}, line {line}: expected {len(head)} cells, got {len(cells)}")
    return tuple(dict(zip(head, cells, strict=True)) for _, cells in rows)


def _check_names(path: Path, rows: Sequence[Record]) -> None:
    names = Counter(row["model"] for row in rows)
    for name, count in names.items():
        if count > 1:
            raise UserError(f"{path}: two rows of {name!r}; a model has one")


def _check_aliases(folder: Path, tables: dict[str, tuple[Record, ...]], aliases: tuple[Record, ...]) -> None:
    for line, row in enumerate(aliases, start=2):
        for source in ALIAS_SOURCES:
            known = {record["model"] for record in tables[source]}
            if row[source] and row[source] not in known:
                raise UserError(
                    f"{folder / 'aliases.csv'}, line {line}: {source}.csv has no model {row[source]!r}"
                )
