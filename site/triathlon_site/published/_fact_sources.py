"""Where the facts of `models-info.csv` were read: `fact_sources.csv`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.published._csv_file import read_table
from triathlon_site.published._facts import FACTS, ModelFacts

SOURCES: Final = "fact_sources.csv"


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
