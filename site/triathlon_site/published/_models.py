"""One model under the names that different sources give it, and what they confirm of its facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.published._read import ALIAS_SOURCES, ModelFacts, Published
from triathlon_site.published._tables import PublishedBoard, PublishedRow, PublishedScore
from triathlon_site.render import formats

NOT_CHECKED: Final = "2026-11-23"
"""Day on which the facts were last gone through, without opening an address."""
NEAR: Final = 0.1
"""Sizes that differ by less than this share count as equal: 7 and 6.7 billion."""


@dataclass(frozen=True, slots=True)
class JoinedModel:
    """A model with its row in each source that has it."""

    name: str
    rows: dict[str, PublishedRow]
    """By board id."""

    def score(self, board: str, column: str) -> PublishedScore | None:
        """Its score in a column of a ranking; None where it has none."""
        row = self.rows.get(board)
        return row.scores.get(column) if row else None


def join_models(published: Published, boards: Sequence[PublishedBoard]) -> tuple[JoinedModel, ...]:
    """Every model of every source once; only reviewed aliases join names."""
    by_name = {board.id: {row.name: row for row in board.rows} for board in boards}
    joined = [
        JoinedModel(alias["model"], {s: by_name[s][alias[s]] for s in ALIAS_SOURCES if alias[s]})
        for alias in published.aliases
    ]
    joined_rows = {(source, row.name) for model in joined for source, row in model.rows.items()}
    single = [
        JoinedModel(row.name, {board.id: row})
        for board in boards
        for row in board.rows
        if (board.id, row.name) not in joined_rows
    ]
    return (*joined, *single)


@dataclass(frozen=True, slots=True)
class FactSources:
    """For how many models each kind of fact is known, and for how many of these a published table agrees."""

    models: int
    cards: int
    """Models with the address of a card or a maker's page."""
    linked: int
    """Models for which a published table gives the same address."""
    organizations: int
    """Models whose organisation a table names in the same words."""
    sizes: int
    """Models with a size in billions."""
    same_sizes: int
    """Models for which a table gives the same size, or nearly the same."""
    prices: int
    without: tuple[str, ...]
    """Names of the models without an address."""
    not_checked: str = NOT_CHECKED


def fact_sources(facts: Mapping[str, ModelFacts], models: Sequence[JoinedModel]) -> FactSources:
    """Counts what the published tables confirm of the facts."""
    rows: dict[str, list[PublishedRow]] = {name: [] for name in facts}
    for model in models:
        rows.setdefault(model.name, []).extend(model.rows.values())
    return FactSources(
        models=len(facts),
        cards=sum(bool(fact.card) for fact in facts.values()),
        linked=sum(
            any(row.link and row.link.rstrip("/") == fact.card.rstrip("/") for row in rows[name])
            for name, fact in facts.items()
        ),
        organizations=sum(
            any(row.organization and row.organization == fact.organization for row in rows[name])
            for name, fact in facts.items()
        ),
        sizes=sum(fact.billions is not None for fact in facts.values()),
        same_sizes=sum(_same_size(fact, rows[name]) for name, fact in facts.items()),
        prices=sum(fact.price is not None for fact in facts.values()),
        without=tuple(name for name, fact in facts.items() if not fact.card),
    )


def _same_size(fact: ModelFacts, rows: Sequence[PublishedRow]) -> bool:
    """Whether a table gives the size; of a mixture of experts, that is its total or its active size."""
    sizes = [fact.billions, float(fact.active_b) if fact.active_b else None]
    published = [formats.billions(row.size) for row in rows]
    return any(abs(a - b) <= NEAR * b for a in sizes if a is not None for b in published if b is not None)
