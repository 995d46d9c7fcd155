"""How many facts of models are known, and where each was read: `fact_sources.csv`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_site.csv_file import Record, read_table
from triathlon_site.models import FACT_COLUMNS, FACTS_FILE

SOURCES: Final = "fact_sources.csv"
FACTS: Final = (
    "organization",
    "parameters_b",
    "active_b",
    "licence",
    "open_weights",
    "released",
    "context",
    "availability",
    "price",
)
"""The kinds of facts, as the column `sources` names them; a price is five columns, an availability three."""


@dataclass(frozen=True, slots=True)
class FactCounts:
    """How many models have each kind of fact, and how many facts each source gave."""

    models: int
    complete: int
    """Models with an organisation, a size or `undisclosed`, open weights or not, and a release month."""
    known: Mapping[str, int]
    """Number of models by kind of fact."""
    sources: tuple[tuple[Record, int], ...]
    """Each row of `fact_sources.csv` and the number of facts read there, the most first."""


def count_facts(folder: Path) -> FactCounts | None:
    """Counts facts by kind and by source; None where there are no facts.

    Raises:
        UserError: one of the files cannot be read or lacks a column.
    """
    if not (folder / FACTS_FILE).exists():
        return None
    rows = read_table(folder / FACTS_FILE, FACT_COLUMNS)
    sources = read_table(folder / SOURCES, ("source", "read", "address"))
    pairs = [pair.split("=", 1) for row in rows for pair in row["sources"].split()]
    known, used = Counter(fact for fact, _ in pairs), Counter(source for _, source in pairs)
    needed = ("organization", "parameters_b", "open_weights", "released")
    return FactCounts(
        models=len(rows),
        complete=sum(all(row[fact] for fact in needed) for row in rows),
        known={fact: known[fact] for fact in FACTS},
        sources=tuple(sorted(((row, used[row["source"]]) for row in sources), key=lambda pair: -pair[1])),
    )
