"""What pages show of a model: what models.yaml says; of recorded ones, the tables that people write."""

import csv
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Final, Literal, get_args

from triathlon_runner import unit_pages
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import RECORDED
from triathlon_site.render import formats

Record = dict[str, str]
NAMES: Final = "names.csv"
"""Columns id, name: what recorded models are called. A model that is not in it is called by its id."""
FACTS_FILE: Final = "models-info.csv"
"""In the folder of published tables: facts of the models of every table."""
FACT_COLUMNS: Final = (
    *("model", "organization", "parameters_b", "active_b", "licence", "open_weights", "released", "context"),
    *("availability", "availability_date", "availability_read"),
    *("price_in", "price_out", "price_host", "price_date", "price_link", "card", "sources"),
)
Status = Literal["in use", "announced", "retired"]
"""What a maker says of a model that it serves. announced: the day of its end is known."""
MOST: Final = 1_000_000_000
"""Dollars, tokens or billions of parameters; larger ones could have an infinite sum."""
_OPEN_WEIGHTS: Final = {"yes": True, "no": False, "": None}
_UNSEEN: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\ufffe\\uffff]")


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a maker serves a model, as its page said on one day."""

    status: Status
    end: str | None = None
    """Day or month of the end, past or announced; None where it is not known."""
    read: str = ""
    """The day on which that was read; empty for a model of models.yaml."""

    def usable(self, day: str) -> bool:
        """Whether the model can be used on a day, such as `2026-11-26`."""
        return day < self.end if self.end else self.status == "in use"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model's card. Fields are None where nothing is known."""

    id: str
    name: str
    organization: str | None = None
    parameters: str | None = None
    license: str | None = None
    open_weights: bool | None = None
    released: str | None = None
    kind: str | None = None
    link: str | None = None
    notes: str | None = None
    bits: int | None = None
    """Of each weight in the file that was loaded, where these are fewer than 16."""
    price: tuple[float, float] | None = None
    """USD per million tokens, in and out: the maker's, or the lowest of a host of open weights."""
    active_billions: float | None = None
    """Parameters that work on a token, for mixtures of experts; only `models-info.csv` has it."""
    context: int | None = None
    """Tokens."""
    price_date: str | None = None
    """Month in which the list price was read, such as `2026-05`."""
    price_link: str | None = None
    """Address of the price list."""
    price_host: str | None = None
    """Who hosts open weights at that price; None for the maker's own price."""
    availability: Availability | None = None
    """Of a model whose weights are not open."""
    usable: bool | None = None
    """Whether it can be used on the day of the site (`on_day`); None where that is not known."""

    @property
    def label(self) -> str:
        """The name as pages show it, with the mark of quantised weights."""
        return f"{self.name}, {self.bits}-bit" if self.bits else self.name

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return unit_pages.model_slug(self.id)

    @property
    def page(self) -> str:
        return f"models/{self.slug}.html"

    @property
    def units_page(self) -> str:
        """The page of every unit of the model."""
        return unit_pages.units_page(self.id)

    @property
    def billions(self) -> float | None:
        """The size as a number to sort by; experts (8x22B) multiplied out."""
        return formats.billions(self.parameters or "")

    @property
    def memory(self) -> tuple[float, float] | None:
        """Gigabytes of the weights with 16 and with 4 bits each; None where they are not open.

        A file of "4-bit" weights is larger, because it keeps some of them, such as embeddings, in more bits.
        """
        size = self.billions if self.open_weights else None
        return None if size is None else (2 * size, size / 2)

    @property
    def status(self) -> str:
        """Whether it can be used, in words; empty where that is not known."""
        if self.usable and self.open_weights:
            return "open weights"
        if self.usable is None or self.availability is None:
            return ""
        end = self.availability.end
        if self.usable:
            return f"until {end}" if end else "in use"
        return f"retired {end}" if end else "retired"

    def on_day(self, day: str) -> "ModelInfo":
        """The same card with `usable` as of a day: weights that are open stay usable."""
        known = self.availability.usable(day) if self.availability else None
        return replace(self, usable=True if self.open_weights else known)


Models = Mapping[str, ModelInfo]
"""By id."""


def model_infos(
    registry: Registry | None, models: Iterable[str], others: Mapping[str, ModelInfo] | None = None
) -> Mapping[str, ModelInfo]:
    """A `ModelInfo` for each registered model and for each model that only has results.

    `others` are recorded models, by id; their names count before those of models.yaml.
    """
    others = others or {}
    known = {model: others.get(model) or ModelInfo(model, printable(model)) for model in set(models)}
    for row in registry.models if registry else ():
        info = _info(row)
        known[row.id] = replace(info, name=others[row.id].name) if row.id in others else info
    return known


def recorded_infos(results: Path) -> Mapping[str, ModelInfo]:
    """The cards of the recorded models that have a name, by id; their facts are those of `models-info.csv`.

    Raises:
        UserError: one of the files cannot be read, lacks a column, or says something that cannot be.
    """
    path = results / RECORDED / NAMES
    names = read_table(path, ("id", "name")) if path.exists() else ()
    facts = read_facts(results / "published") if names else {}
    infos = {}
    for row in names:
        known = facts.get(row["name"]) or ModelInfo(row["id"], printable(row["name"]))
        size = known.parameters and known.parameters.partition(" (")[0]  # without the active part of it
        infos[row["id"]] = replace(known, id=row["id"], parameters=size)
    return infos


def newest_fact(facts: Collection[ModelInfo]) -> str:
    """The newest day or month on which a price or an availability was read; empty where none is dated."""
    read = [info.price_date for info in facts]
    read += [info.availability.read for info in facts if info.availability]
    return max(filter(None, read), default="")


def read_facts(folder: Path) -> Mapping[str, ModelInfo]:
    """The cards in `models-info.csv`, by the model's name; none where the folder has no such file.

    Raises:
        UserError: the file cannot be read, lacks a column, or has a number, a date or a status that is none.
    """
    path = folder / FACTS_FILE
    facts = {}
    for row in read_table(path, FACT_COLUMNS) if path.exists() else ():
        try:
            facts[row["model"]] = _info_of_facts(row)
        except ValueError as error:
            raise UserError(f"{path}: facts of {row['model']!r}: {error}") from None
    return facts


def printable(name: str) -> str:
    """Without control characters: no reader sees them, and XML, the feed's language, forbids most."""
    return _UNSEEN.sub("\ufffd", name)


def _info(row: ModelRow) -> ModelInfo:
    facts = {field.name: getattr(row, field.name) for field in fields(ModelInfo) if hasattr(row, field.name)}
    price = (row.price.input, row.price.output) if row.price else None
    status: Status = "retired" if row.retired else "in use"
    served = None if row.open_weights else Availability(status, row.retired)
    return ModelInfo(**facts | {"name": printable(row.name), "price": price, "availability": served})


def _info_of_facts(row: Record) -> ModelInfo:
    """The size is a number of billions or a word, such as `undisclosed`."""
    known = {column: cell or None for column, cell in row.items()}
    size, active, context = (
        known["parameters_b"],
        _number(row, "active_b"),
        _number(row, "context", whole=True),
    )
    if size and not size[0].isalpha():
        _number(row, "parameters_b")
        size = f"{size}B" + (f" ({known['active_b']}B active)" if active else "")
    if known["released"]:
        date.fromisoformat(f"{known['released']}-01")
    price_in, price_out = _number(row, "price_in"), _number(row, "price_out")
    if (price_in is None) != (price_out is None):
        raise ValueError("expected a number in both of price_in and price_out, or in neither, got one")
    if (is_open := row["open_weights"]) not in _OPEN_WEIGHTS:
        raise ValueError(f"expected yes, no or nothing in open_weights, got {is_open!r}")
    return ModelInfo(
        id=row["model"],
        name=printable(row["model"]),
        organization=known["organization"],
        parameters=size,
        license=known["licence"],
        open_weights=_OPEN_WEIGHTS[is_open],
        released=known["released"],
        link=known["card"],
        price=None if price_in is None or price_out is None else (price_in, price_out),
        active_billions=active,
        context=None if context is None else int(context),
        price_date=_day_or_month(row["price_date"]) if row["price_date"] else None,
        price_link=known["price_link"],
        price_host=known["price_host"],
        availability=_availability(row),
    )


def finite(text: str) -> float | None:
    """The number that a cell states; None where it is none that can be counted with."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _number(row: Record, column: str, *, whole: bool = False) -> float | None:
    """The number in a cell, on demand a whole one; None for an empty one.

    Raises:
        ValueError: it holds something else.
    """
    text = row[column]
    value = finite(text or "0")
    if value is None or not 0 <= value <= MOST or (whole and not value.is_integer()):
        raise ValueError(f"expected a {'whole ' * whole}number from 0 to {MOST:,} in {column}, got {text!r}")
    return value if text else None


def _availability(row: Record) -> Availability | None:
    """What the row says of the model's availability; None where it says nothing."""
    said, end, read = (row[f"availability{part}"] for part in ("", "_date", "_read"))
    if not (said or end or read):
        return None
    status = next((known for known in get_args(Status) if known == said), None)
    if status is None:
        raise ValueError(f"expected an availability of {', '.join(get_args(Status))}, got {said!r}")
    if status == "announced" and not end:
        raise ValueError("expected the day of an announced end in availability_date, got ''; add it")
    return Availability(status, _day_or_month(end) if end else None, date.fromisoformat(read).isoformat())


def _day_or_month(text: str) -> str:
    """The day as `2026-11-26` or the month, as which days are compared; ValueError where it is neither."""
    if len(text) > len("2026-11"):
        return date.fromisoformat(text).isoformat()
    date.fromisoformat(f"{text}-01")
    return text


def read_table(path: Path, expected: Sequence[str]) -> tuple[Record, ...]:
    """Every row with every cell; `expected` are the columns that must be there.

    Raises:
        UserError: the file cannot be read, lacks a column or has one twice, or has a row with cells too few
            or too many.
    """
    if path.is_symlink() or path.parent.is_symlink():
        raise UserError(f"expected a plain file at {str(path)!r}, got a link, which is not followed")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
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
    if repeated := [name for name, count in Counter(head).items() if count > 1]:
        raise UserError(
            f"{path}: expected columns of different names, got {repeated[0]!r} more than"
            " once; rename or remove all but one of them"
        )
    for line, cells in rows:
        if len(cells) != len(head):
            raise UserError(f"{path}, line {line}: expected {len(head)} cells, got {len(cells)}")
    return tuple(dict(zip(head, cells, strict=True)) for _, cells in rows)
