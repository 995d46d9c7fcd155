"""`models-info.csv`: facts of the models of every table, each with the source in which it was read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.published._csv_file import read_table

NAME: Final = "models-info.csv"
UNDISCLOSED: Final = "undisclosed"
FACTS: Final = (
    "organization",
    "parameters_b",
    "active_b",
    "licence",
    "open_weights",
    "released",
    "context",
    "price",
)
"""The kinds of facts, as the column `sources` names them; a price is four columns."""
_MONTH: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


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
    """Address of the price list in which it was read."""
    card: str = ""
    """Address of the model's card or its maker's page, where to look further; nothing was read there unless
    `sources` says so."""
    sources: str = ""
    """Where each fact was read, such as `organization=evalplus released=helm`; see `fact_sources.csv`."""

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
    def sources_by_fact(self) -> Mapping[str, str]:
        """The source of each fact that is known."""
        return dict(pair.split("=", 1) for pair in self.sources.split())

    @property
    def price(self) -> tuple[float, float] | None:
        """USD per million tokens, in and out."""
        return (float(self.price_in), float(self.price_out)) if self.price_in and self.price_out else None


def read_facts(folder: Path) -> Mapping[str, ModelFacts]:
    """The facts by the model's name; none where the folder has no such file.

    Raises:
        UserError: an unknown or missing column, a model twice, a value of another kind, a fact without a
            source, or a source without its fact; names the line.
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
        fault = "a second row" if row["model"] in facts else _fault(row)
        if fault:
            raise UserError(f"{path}, line {line}: {fault} of {row['model']!r}")
        facts[row["model"]] = ModelFacts(**row)
    return facts


def _fault(row: Mapping[str, str]) -> str:
    for name in ("parameters_b", "active_b", "context", "price_in", "price_out"):
        value = row[name]
        if value and not (name == "parameters_b" and value == UNDISCLOSED) and not _is_number(value):
            return f"{name}: expected a number, got {value!r}"
    if row["open_weights"] not in ("", "yes", "no"):
        return f"open_weights: expected yes or no, got {row['open_weights']!r}"
    for name in ("released", "price_date"):
        if row[name] and not _MONTH.fullmatch(row[name]):
            return f"{name}: expected a month such as 2024-11, got {row[name]!r}"
    for name in ("price_link", "card"):
        if row[name] and not row[name].startswith("https://"):
            return f"{name}: expected an address that begins with https://, got {row[name]!r}"
    return _fault_of_sources(row)


def _fault_of_sources(row: Mapping[str, str]) -> str:
    pairs = [pair.partition("=") for pair in row["sources"].split()]
    wrong = [f"{fact}{sign}{source}" for fact, sign, source in pairs if fact not in FACTS or not source]
    if wrong:
        return f"sources: expected {' or '.join(FACTS)}, = and a source, got {wrong[0]!r}"
    sourced = [fact for fact, _, _ in pairs]
    prices = ("price_in", "price_out", "price_date", "price_link")
    known = [fact for fact in FACTS if any(row[name] for name in (prices if fact == "price" else (fact,)))]
    for fact in FACTS:
        if (fact in known) != (fact in sourced) or sourced.count(fact) > 1:
            expected = (
                f"one source of {fact}" if fact in known else f"no source of {fact}, which is not known"
            )
            return f"sources: expected {expected}, got {row['sources']!r}"
    missing = [name for name in prices if not row[name]]
    return f"{missing[0]}: expected a value beside the price, got ''" if "price" in known and missing else ""


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None
