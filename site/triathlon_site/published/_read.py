"""The CSV files of `results/published/`, and one model under the names that they give it."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError

Record = dict[str, str]
NAME: Final = "models-info.csv"
UNDISCLOSED: Final = "undisclosed"
_NUMBER: Final = (r"\d+(\.\d+)?", "a number")
_MONTH: Final = (r"\d{4}-(0[1-9]|1[0-2])", "a month such as 2024-11")
_ADDRESS: Final = (r"(?s)https://.*", "an address that begins with https://")
_FORMS: Final = {
    "parameters_b": (rf"{UNDISCLOSED}|{_NUMBER[0]}", "a number"),
    "active_b": _NUMBER,
    "context": _NUMBER,
    "price_in": _NUMBER,
    "price_out": _NUMBER,
    "open_weights": ("yes|no", "yes or no"),
    "released": _MONTH,
    "price_date": _MONTH,
    "price_link": _ADDRESS,
    "card": _ADDRESS,
}
"""By column of `models-info.csv`, what a cell with something in it must be: a pattern, and in words."""
ALIAS_SOURCES: Final = ("evaloop", "reval", "evoeval", "evalplus", "cruxeval")


def read_table(path: Path, expected: Sequence[str]) -> tuple[Record, ...]:
    """Every row with every cell; `expected` are the columns that must be there.

    Raises:
        UserError: the file cannot be read, lacks a column, or has a row with cells too few or too many.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            head = next(lines, [])
            rows = [(lines.line_num, cells) for cells in lines if cells]
    except OSError as error:
        raise UserError(f"cannot read the table {str(path)!r} ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: expected a CSV file in UTF-8: {error}") from None
    for name in expected:
        if name not in head:
            raise UserError(f"{path}: expected a column {name!r}, got {', '.join(head)}")
    for line, cells in rows:
        if len(cells) != len(head):
            raise UserError(f"{path}, line {line}: expected {len(head)} cells, got {len(cells)}")
    return tuple(dict(zip(head, cells, strict=True)) for _, cells in rows)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model's facts, as texts; empty where they are not known."""

    model: str
    """Its name in `aliases.csv`, or in the one table that has it."""
    organization: str = ""
    parameters_b: str = ""
    """Billions, or `undisclosed`."""
    active_b: str = ""
    """Billions that work on a token, for mixtures of experts."""
    licence: str = ""
    open_weights: str = ""
    """`yes` or `no`."""
    released: str = ""
    """Month, such as `2024-11`."""
    context: str = ""
    """Tokens."""
    price_in: str = ""
    """USD per million tokens, list price on `price_date`."""
    price_out: str = ""
    price_date: str = ""
    price_link: str = ""
    """Where the maker lists prices; not opened either."""
    card: str = ""
    """Address of the model's card or its maker's page. Nobody opened it when the facts were written down, so
    it is where to look, not what they were copied from."""

    @property
    def size(self) -> str:
        """`7B`, `30.5B (3.3B active)`, `undisclosed`."""
        if not self.parameters_b or self.parameters_b == UNDISCLOSED:
            return self.parameters_b
        return f"{self.parameters_b}B" + (f" ({self.active_b}B active)" if self.active_b else "")

    @property
    def billions(self) -> float | None:
        """The size as a number; None where it is not known."""
        return float(self.parameters_b) if self.parameters_b not in ("", UNDISCLOSED) else None

    @property
    def price(self) -> tuple[float, float] | None:
        """USD per million tokens, in and out."""
        return (float(self.price_in), float(self.price_out)) if self.price_in and self.price_out else None


def read_facts(folder: Path) -> Mapping[str, ModelFacts]:
    """The facts by the model's name; none where the folder has no such file.

    Raises:
        UserError: an unknown or missing column, a model twice, or a value of another kind; names the line.
    """
    path = folder / NAME
    if not path.is_file():
        return {}
    columns = [field.name for field in fields(ModelFacts)]
    rows = read_table(path, columns)
    unknown = sorted({name for row in rows for name in row} - set(columns))
    if unknown:
        raise UserError(f"{path}: expected the columns {', '.join(columns)}, got {unknown[0]!r}")
    facts: dict[str, ModelFacts] = {}
    for line, row in enumerate(rows, start=2):
        faults = [
            f"{name}: expected {expected}, got {row[name]!r}"
            for name, (pattern, expected) in _FORMS.items()
            if row[name] and not re.fullmatch(pattern, row[name])
        ]
        if row["model"] in facts:
            faults = ["a second row"]
        if faults:
            raise UserError(f"{path}, line {line}: {faults[0]} of {row['model']!r}")
        facts[row["model"]] = ModelFacts(**row)
    return facts


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
    return Published(tables, sources, aliases, doubts, read_facts(folder))


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
