"""Every model of any source once: a product with its snapshots, its results, and its page."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from triathlon_runner import unit_pages
from triathlon_site.models import ModelInfo
from triathlon_site.published import JoinedModel

if TYPE_CHECKING:
    from triathlon_site.pages._site import Gathered

UNDATED = "snapshot not stated"


@dataclass(frozen=True, slots=True)
class ModelSnapshot:
    """One model as sources ran it: what tests, tiers and the index compare."""

    info: ModelInfo
    ids: tuple[str, ...]
    """Ids of the same model among those with results."""
    joined: JoinedModel | None
    """Its rows in the published tables; None for a model that none of them certainly has."""
    source: str
    """Title of a source that has it, to tell it from another model of the same name."""

    @property
    def month(self) -> str:
        """Of a snapshot of a product; empty where the source states none."""
        return self.joined.snapshot.month if self.joined and self.joined.snapshot else ""

    @property
    def label(self) -> str:
        """Which snapshot of a product it is, in words; empty for a model that is no product."""
        if not (self.joined and self.joined.snapshot):
            return ""
        stated = self.joined.snapshot.snapshot
        return f"snapshot {stated}" if stated else UNDATED


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One row of the table of all models, and one page."""

    info: ModelInfo
    """With the name of the row and the id of the page."""
    snapshots: tuple[ModelSnapshot, ...]
    """The newest first, those without a month last."""

    @property
    def ids(self) -> list[str]:
        """Ids of its results."""
        return [model for one in self.snapshots for model in one.ids]

    @property
    def keys(self) -> list[str | tuple[str, str]]:
        """Ids of its results; and the published tables that have it, with its name in each."""
        published = [one.joined for one in self.snapshots if one.joined]
        return [*self.ids, *((table, row.name) for joined in published for table, row in joined.rows.items())]


@dataclass(frozen=True, slots=True)
class Doubt:
    """Another card that may be the same model."""

    card: ModelCard
    reason: str
    """Why the two are not joined."""


def doubts_of(site: "Gathered") -> Mapping[str, Sequence[Doubt]]:
    """By id of a card, the others that `doubtful_aliases.csv` says may be the same model."""
    found: dict[str, dict[str, Doubt]] = defaultdict(dict)
    for row in site.published.doubtful if site.published else ():
        one, other = (
            site.card_of.get((row[source], row[name]))
            for source, name in (("source", "name"), ("other_source", "other_name"))
        )
        if one and other and one is not other:
            found[one.info.id][other.info.id] = Doubt(other, row["reason"])
            found[other.info.id][one.info.id] = Doubt(one, row["reason"])
    return {name: tuple(doubts.values()) for name, doubts in found.items()}


def snapshots_of(site: "Gathered") -> Iterator[ModelSnapshot]:
    """Every model of the published tables, then those that only have results."""
    tables = site.reported
    ids: dict[int | str, list[str]] = defaultdict(list)
    """Models with results, by the published model that they are, else by name or id."""
    for model in site.results.models:
        name = site.published_names.get(model) or f"id {model}"
        ids[id(site.same[model]) if model in site.same else name].append(model)
    for joined in tables.models:
        own = ids.pop(id(joined), [])
        info = _filled(site.models[own[0]] if own else None, tables.facts_of(joined))
        yield ModelSnapshot(info, tuple(own), joined, tables.boards[next(iter(joined.rows))].title)
    for key, own in ids.items():
        recorded = all(file.receipt for model in own for file in site.files[model])
        info = _filled(site.models[own[0]], tables.facts.get(str(key)))
        yield ModelSnapshot(info, tuple(own), None, "recorded" if recorded else "measured here")


def cards_of(site: "Gathered") -> list[ModelCard]:
    """Every model once: snapshots of a product in one card, but those that a source tells from a newer."""
    groups: dict[tuple[str, int], list[ModelSnapshot]] = defaultdict(list)
    """By name, and for a model that is no product or stands apart by its number."""
    snapshots = list(snapshots_of(site))
    published = [one.joined for one in snapshots if one.joined]
    for number, one in enumerate(snapshots):
        joined = one.joined
        if joined and joined.snapshot and not any(joined.older_than(other) for other in published):
            groups[joined.snapshot.product, -1].append(one)
        else:
            groups[joined.name if joined and joined.snapshot else one.info.name, number].append(one)
    counts = Counter(name for name, _ in groups)
    names = [
        f"{name} ({group[0].source})" if counts[name] > 1 else name for (name, _), group in groups.items()
    ]
    slugs = Counter(map(_plain, names))
    taken = {unit_pages.model_slug(model) for model in site.models}
    return [
        _card(site, name, group, _plain(name) if slugs[_plain(name)] == 1 else name, taken)
        for name, group in zip(names, groups.values(), strict=True)
    ]


def _card(
    site: "Gathered", name: str, group: Sequence[ModelSnapshot], slug: str, taken: set[str]
) -> ModelCard:
    """`slug`: of its page where it has no results; one that a model with results has gets a hash."""
    newest_first = sorted(group, key=lambda one: one.month, reverse=True)
    ids = [model for one in newest_first for model in one.ids]
    main = next((model for model in ids if site.models[model].name == name), ids[0] if ids else "")
    info = site.reported.facts.get(name) or newest_first[0].info
    for one in newest_first:
        info = _filled(info, one.info)
    info = _filled(site.models[main], info) if main else info
    page_id = main or (name if slug in taken else slug)
    return ModelCard(replace(info, id=page_id, name=name), tuple(newest_first))


def _filled(card: ModelInfo | None, other: ModelInfo | None) -> ModelInfo:
    """The first card with what only the second knows."""
    if card is None or other is None:
        return card or other or ModelInfo("", "")
    known: dict[str, Any] = {
        field.name: getattr(other, field.name) for field in fields(card) if getattr(card, field.name) is None
    }
    return replace(card, **known)


def _plain(name: str) -> str:
    """The name as it can stand in an address."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
