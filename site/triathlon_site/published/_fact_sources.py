"""What the facts of `models-info.csv` rest on: addresses nobody opened, and what the tables confirm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.published._facts import ModelFacts
from triathlon_site.published._joined import JoinedModel
from triathlon_site.published._tables import PublishedRow
from triathlon_site.render import formats

NOT_CHECKED: Final = "2026-11-23"
"""Day on which the facts were last gone through, without opening an address."""
NEAR: Final = 0.1
"""Sizes that differ by less than this share say the same: 7 and 6.7 billion."""


@dataclass(frozen=True, slots=True)
class FactSources:
    """How many models have which kind of fact, and for how many a published table says the same."""

    models: int
    cards: int
    """Models with the address of a card or a maker's page."""
    linked: int
    """Those of them whose address a published table gives, too."""
    organizations: int
    """Models whose organisation a table names in the same words."""
    sizes: int
    """Models with a size in billions."""
    same_sizes: int
    """Those of them for which a table says the same, or nearly."""
    prices: int
    without: tuple[str, ...]
    """Names of the models without an address."""
    not_checked: str = NOT_CHECKED


def fact_sources(facts: Mapping[str, ModelFacts], models: Sequence[JoinedModel]) -> FactSources:
    """Counts what the published tables confirm of the facts."""
    rows: dict[str, list[PublishedRow]] = {fact.model: [] for fact in facts.values()}
    for model in models:
        rows.setdefault(model.name, []).extend(model.rows.values())
    listed = list(facts.values())
    return FactSources(
        models=len(listed),
        cards=sum(bool(fact.card) for fact in listed),
        linked=sum(
            any(row.link and row.link.rstrip("/") == fact.card.rstrip("/") for row in rows[fact.model])
            for fact in listed
        ),
        organizations=sum(
            any(row.organization and row.organization == fact.organization for row in rows[fact.model])
            for fact in listed
        ),
        sizes=sum(fact.billions is not None for fact in listed),
        same_sizes=sum(_confirmed(fact, rows[fact.model]) for fact in listed),
        prices=sum(fact.price is not None for fact in listed),
        without=tuple(fact.model for fact in listed if not fact.card),
    )


def _confirmed(facts: ModelFacts, rows: Sequence[PublishedRow]) -> bool:
    """Whether a table gives the size; tables give that of a mixture of experts whole or active."""
    known = [facts.billions, float(facts.active_b) if facts.active_b else None]
    sizes = [formats.billions(row.size) for row in rows]
    return any(abs(a - b) <= NEAR * b for a in known if a is not None for b in sizes if b is not None)
