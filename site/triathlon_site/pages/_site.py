"""All data that the pages are made from; and every model of any source once, with its results and page."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Final

from triathlon_runner import unit_pages
from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_site.history import History
from triathlon_site.load import FileAggregate, Results
from triathlon_site.models import ModelInfo, Models, printable
from triathlon_site.pages._scores import ReportedTables
from triathlon_site.published import JoinedModel, Published
from triathlon_site.recordings import Recordings
from triathlon_site.scores import Board, Overall

FRONT: Final = "index.html"
OVERALL: Final = {"core": "overall-core.html", "added": "overall-added.html"}
"""By family of data, the page with the order over all disciplines, where the front page is another."""


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
        return f"snapshot {self.joined.snapshot.snapshot or 'not stated'}"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One row of the table of all models, and one page."""

    info: ModelInfo  # with the name of the row and the id of the page
    snapshots: tuple[ModelSnapshot, ...]  # the newest first, those without a month last

    @property
    def ids(self) -> list[str]:
        """Ids of its results."""
        return [model for one in self.snapshots for model in one.ids]

    @property
    def keys(self) -> list[str | tuple[str, str]]:
        """Ids of its results; and the published tables that have it, with its name in each."""
        published = [one.joined for one in self.snapshots if one.joined]
        return [*self.ids, *((table, row.name) for joined in published for table, row in joined.rows.items())]


Doubt = tuple[ModelCard, str]  # another card that may be the same model, and why the two are not joined


@dataclass(frozen=True)
class Gathered:
    """All data that the pages are made from."""

    results: Results
    boards: tuple[Board, ...]
    overalls: Mapping[str, Overall]
    """By family of data; families without results are left out."""
    models: Models
    date: str
    """Day of the newest result, or of SOURCE_DATE_EPOCH."""
    version: str
    published: Published = field(default_factory=Published)
    history: History = field(default_factory=History)
    imported: tuple[Board, ...] = ()
    """Boards of imported results alone."""
    imported_files: tuple[FileAggregate, ...] = ()
    """The files of these results; none where they are on no board."""
    recordings: Recordings = field(default_factory=Recordings)
    url: str = ""
    """Where the site will be published, with a slash at its end; empty where that is not known."""
    docs: str = ""
    """Where the docs will be, seen from the front page; empty where they are not published with it."""
    published_names: Mapping[str, str] = field(default_factory=dict)
    """By id of a model with results, its name in the published tables, where it is certain."""
    as_of: str = ""
    """Day that decides which models can be used; by default the newest one in facts and results."""
    known: Catalogue = BUILT_IN
    """The suites that there are, with those of a suites.yaml."""

    @property
    def has_all_models(self) -> bool:
        """Whether the front page is the table of all models; else it is an order over all disciplines."""
        has_official = any(board.plan.family == "official" for board in self.boards)
        return has_official or any(self.published.tables.values())

    @property
    def overall_pages(self) -> Mapping[str, str]:
        """By family of data, the page with the order over all disciplines.

        The first is the front page where that is not the table of all models.
        """
        pages = {family: path for family, path in OVERALL.items() if family in self.overalls}
        if pages and not self.has_all_models:
            pages[next(iter(pages))] = FRONT
        return pages

    @cached_property
    def units(self) -> int:
        """Units of all measured results."""
        return sum(file.units for file in self.results.files)

    @cached_property
    def reported(self) -> ReportedTables:
        """The published tables."""
        return ReportedTables(self.published)

    @cached_property
    def same(self) -> Mapping[str, JoinedModel]:
        """By id of a model with results, the published model that it certainly is.

        Of two published models with its name, it is the one with a figure in a column that has its score.
        """
        by_name: dict[str, list[JoinedModel]] = defaultdict(list)
        for joined in self.reported.models:
            by_name[joined.name].append(joined)
        same = {}
        for model, name in self.published_names.items():
            found = by_name[name]
            if len(found) > 1:
                scored = [
                    (board, scores.column.id)
                    for board in self.boards
                    for scores in board.columns
                    if model in scores.scores
                ]
                figures = self.reported.on_board
                found = [
                    one for one in found if any(column in figures(board, one) for board, column in scored)
                ]
            if len(found) == 1:
                same[model] = found[0]
        return same

    @cached_property
    def cards(self) -> Sequence[ModelCard]:
        """Every model once: snapshots of a product in one card, but those that are told from a newer one."""
        groups: dict[tuple[str, int], list[ModelSnapshot]] = defaultdict(list)
        """By name, and for a model that is no product or stands apart by its number."""
        snapshots = list(_snapshots(self))
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
        taken = {unit_pages.model_slug(model) for model in self.results.models}
        return [
            _card(self, name, group, _plain(name) if slugs[_plain(name)] == 1 else name, taken)
            for name, group in zip(names, groups.values(), strict=True)
        ]

    @cached_property
    def card_of(self) -> Mapping[str | tuple[str, str], ModelCard]:
        """The cards by id of a model with results, and by published table and name there."""
        return {key: card for card in self.cards for key in card.keys}

    @cached_property
    def published_infos(self) -> Mapping[str, Mapping[str, ModelInfo]]:
        """By published table and name there: the model under its own name, with the page of its card."""
        infos: dict[str, dict[str, ModelInfo]] = {table.id: {} for table in self.reported.tables}
        for joined in self.reported.models:
            for table, row in joined.rows.items():
                card = self.card_of[table, row.name]
                infos[table][row.name] = replace(card.info, name=joined.name, bits=None)
        # a paper's other tables call the models as its first does
        first = {table.page: infos[table.id] for table in reversed(self.reported.tables)}
        for each in self.reported.tables:
            for row in each.rows:
                if row.name in first[each.page]:
                    infos[each.id].setdefault(row.name, first[each.page][row.name])
        return infos

    @cached_property
    def may_be(self) -> Mapping[str, Sequence[Doubt]]:
        """By id of a card, the others that `doubtful_aliases.csv` says may be the same model."""
        found: dict[str, dict[str, Doubt]] = defaultdict(dict)
        for row in self.published.doubtful:
            one = self.card_of.get((row["source"], row["name"]))
            other = self.card_of.get((row["other_source"], row["other_name"]))
            if one and other and one is not other:
                found[one.info.id][other.info.id] = other, row["reason"]
                found[other.info.id][one.info.id] = one, row["reason"]
        return {name: tuple(doubts.values()) for name, doubts in found.items()}

    @cached_property
    def files(self) -> Mapping[str, list[FileAggregate]]:
        """The files of each model's results."""
        return self.results.of_models(self.results.models)

    @cached_property
    def compared(self) -> Sequence[str]:
        """The models on the page of comparisons; none where there are not two."""
        models = list(dict.fromkeys(model for board in self.boards for model in board.models))
        return models if len(models) > 1 else ()

    def board(self, name: str) -> Board | None:
        """The board of this id; None where there are no results for it."""
        return next((board for board in self.boards if board.plan.id == name), None)

    def newest(self, model: str, suites: Collection[str] | None = None) -> str:
        """Day or month of a model's newest result, on any or on these suites; empty if it is not known."""
        files = self.files.get(model, ())
        return max((file.ended for file in files if suites is None or file.suite in suites), default="")


def _snapshots(site: Gathered) -> Iterator[ModelSnapshot]:
    """Every model of the published tables, then those that only have results."""
    tables, facts = site.reported, site.published.facts
    ids: dict[int | str, list[str]] = defaultdict(list)
    """Models with results, by the published model that they are, else by name or id."""
    for model in site.results.models:
        name = site.published_names.get(model) or f"id {model}"
        ids[id(site.same[model]) if model in site.same else name].append(model)
    for joined in tables.models:
        own = ids.pop(id(joined), [])
        # its row of `models-info.csv`; without one, the organisation that a table names
        organization = next((row.organization for row in joined.rows.values() if row.organization), None)
        known = facts.get(joined.name) or ModelInfo(joined.name, printable(joined.name), organization)
        info = _filled(*(site.models[model] for model in own[:1]), known)
        yield ModelSnapshot(info, tuple(own), joined, tables.boards[next(iter(joined.rows))].title)
    for key, own in ids.items():
        recorded = all(file.receipt for model in own for file in site.files[model])
        info = site.models[own[0]]
        info = _filled(info, facts.get(str(key), info))
        yield ModelSnapshot(info, tuple(own), None, "recorded" if recorded else "measured here")


def _card(site: Gathered, name: str, group: Sequence[ModelSnapshot], slug: str, taken: set[str]) -> ModelCard:
    """`slug`: of its page where it has no results; one that a model with results has gets a hash."""
    newest_first = sorted(group, key=lambda one: one.month, reverse=True)
    ids = [model for one in newest_first for model in one.ids]
    main = next((model for model in ids if site.models[model].name == name), ids[0] if ids else "")
    facts = site.models.get(main), site.published.facts.get(name), *(one.info for one in newest_first)
    page_id = main or (name if slug in taken else slug)
    info = replace(_filled(*filter(None, facts)), id=page_id, name=name)
    # one without results is on the page of its card
    paged = (one if one.ids else replace(one, info=replace(one.info, id=page_id)) for one in newest_first)
    return ModelCard(info, tuple(paged))


def _filled(card: ModelInfo, *others: ModelInfo) -> ModelInfo:
    """The first card with what only others know, the first of them that does."""
    for other in others:
        unknown = [field.name for field in fields(card) if getattr(card, field.name) is None]
        card = replace(card, **{name: getattr(other, name) for name in unknown})
    return card


def _plain(name: str) -> str:
    """The name as it can stand in an address."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
