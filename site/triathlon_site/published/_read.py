"""The CSV files of `results/published/`."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError

Record = dict[str, str]
ALIAS_SOURCES: Final = ("evaloop", "reval", "evoeval", "evalplus")


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


def read_published(folder: Path) -> Published | None:
    """None where there is no such folder.

    Raises:
        UserError: a table without a source, or an alias of a name that its table does not have.
    """
    if not folder.is_dir():
        return None
    sources = {row["table"]: Source(**row) for row in _read(folder / "sources.csv")}
    tables = {name: _read(folder / f"{name}.csv") for name in sources}
    aliases = _read(folder / "aliases.csv")
    doubtful = tuple(DoubtfulAlias(**row) for row in _read(folder / "doubtful_aliases.csv"))
    _check_aliases(folder, tables, aliases)
    return Published(tables, sources, aliases, doubtful)


def _read(path: Path) -> tuple[Record, ...]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return tuple(csv.DictReader(file))
    except OSError as error:
        raise UserError(f"cannot read the published figures in {str(path)!r} ({error.strerror})") from None


def _check_aliases(folder: Path, tables: dict[str, tuple[Record, ...]], aliases: tuple[Record, ...]) -> None:
    for line, row in enumerate(aliases, start=2):
        for source in ALIAS_SOURCES:
            known = {record["model"] for record in tables[source]}
            if row[source] and row[source] not in known:
                raise UserError(
                    f"{folder / 'aliases.csv'}, line {line}: {source}.csv has no model {row[source]!r}"
                )
