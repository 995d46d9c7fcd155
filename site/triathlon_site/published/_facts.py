"""`models-info.csv`: facts of the models of every table; `fact_sources.csv`: where each was read."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.published._csv_file import read_table

NAME: Final = "models-info.csv"
SOURCES: Final = "fact_sources.csv"
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
    for name, (pattern, expected) in _FORMS.items():
        if row[name] and not re.fullmatch(pattern, row[name]):
            return f"{name}: expected {expected}, got {row[name]!r}"
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


@dataclass(frozen=True, slots=True)
class FactSource:
    """A page or file in which facts were read."""

    source: str
    """Its name in the column `sources` of `models-info.csv`."""
    read: str
    """What it is and which facts were read there."""
    address: str
    """Empty for the model's own name and for tables in the same folder."""


@dataclass(frozen=True, slots=True)
class FactSources:
    """How many models have each kind of fact, and how many facts each source gave."""

    models: int
    complete: int
    """Models with an organisation, a size or `undisclosed`, open weights or not, and a release month."""
    known: Mapping[str, int]
    """Number of models by kind of fact."""
    sources: tuple[tuple[FactSource, int], ...]
    """Each source and the number of facts read there, the most first."""


def read_fact_sources(folder: Path, facts: Mapping[str, ModelFacts]) -> tuple[FactSource, ...]:
    """The sources of the facts; none where there are no facts.

    Raises:
        UserError: a source twice, an address that is none, or a fact whose source is not in the list.
    """
    if not facts:
        return ()
    path = folder / SOURCES
    sources: dict[str, FactSource] = {}
    for line, row in enumerate(read_table(path, [field.name for field in fields(FactSource)]), start=2):
        if row["source"] in sources:
            raise UserError(f"{path}, line {line}: a second row of {row['source']!r}")
        if row["address"] and not row["address"].startswith("https://"):
            raise UserError(
                f"{path}, line {line}: expected an address that begins with https://, got {row['address']!r}"
            )
        sources[row["source"]] = FactSource(row["source"], row["read"], row["address"])
    for model in facts.values():
        for fact, source in model.sources_by_fact.items():
            if source not in sources:
                raise UserError(f"{path}: no row {source!r}, where {fact} of {model.model!r} was read")
    return tuple(sources.values())


def count_facts(facts: Mapping[str, ModelFacts], sources: tuple[FactSource, ...]) -> FactSources:
    """Counts facts by kind and by source."""
    used = Counter(source for model in facts.values() for source in model.sources_by_fact.values())
    return FactSources(
        models=len(facts),
        complete=sum(
            bool(model.organization and model.parameters_b and model.open_weights and model.released)
            for model in facts.values()
        ),
        known={fact: sum(fact in model.sources_by_fact for model in facts.values()) for fact in FACTS},
        sources=tuple(sorted(((one, used[one.source]) for one in sources), key=lambda pair: -pair[1])),
    )
