"""All data that the pages are made from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from triathlon_site.history import History
from triathlon_site.load import Archived, FileAggregate, Notice, Results
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages._cards import Doubt, ModelCard, cards_of, doubts_of
from triathlon_site.pages._reported import ReportedTables, same_model
from triathlon_site.published import JoinedModel, Published
from triathlon_site.recordings import Recordings
from triathlon_site.scores import Board, Overall

FRONT: Final = "index.html"
OVERALL: Final = {"core": "overall-core.html", "added": "overall-added.html"}
"""By family of data, the page with the order over all disciplines, where the front page is another."""


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
    published: Published | None = None
    history: History = field(default_factory=History)
    imported: tuple[Board, ...] = ()
    """Boards of imported results alone."""
    archived: tuple[Archived, ...] = ()
    recordings: Recordings = field(default_factory=Recordings)
    url: str = ""
    """Where the site will be published, with a slash at its end; empty where that is not known."""
    docs: str = ""
    """Where the docs will be, seen from the front page; empty where they are not published with it."""
    published_names: Mapping[str, str] = field(default_factory=dict)
    """By id of a model with results, its name in the published tables, where it is certain."""
    as_of: str = ""
    """Day that decides which models can be used; by default the newest one in facts and results."""

    @property
    def has_all_models(self) -> bool:
        """Whether the front page is the table of all models; else it is an order over all disciplines."""
        tables = self.published.tables.values() if self.published else ()
        return any(board.plan.family == "official" for board in self.boards) or any(tables)

    @property
    def overall_pages(self) -> Mapping[str, str]:
        """By family of data, the page with the order over all disciplines.

        The first is the front page where that is not the table of all models.
        """
        there = [name for name in OVERALL if name in self.overalls]
        pages = {family: OVERALL[family] for family in there}
        return pages if self.has_all_models or not there else pages | {there[0]: FRONT}

    @property
    def units(self) -> int:
        """Units of all measured results."""
        return sum(file.units for file in self.results.files)

    @property
    def notices(self) -> Sequence[Notice]:
        """The faults in the results."""
        return self.results.notices

    @cached_property
    def reported(self) -> ReportedTables:
        """The published tables."""
        return ReportedTables(self.published)

    @cached_property
    def same(self) -> Mapping[str, JoinedModel]:
        """By id of a model with results, the published model that it certainly is."""
        return same_model(self.reported, self.published_names, self.boards)

    @cached_property
    def cards(self) -> Sequence[ModelCard]:
        """Every model of any source once."""
        return cards_of(self)

    @cached_property
    def card_of(self) -> Mapping[str | tuple[str, str], ModelCard]:
        """The cards by id of a model with results, and by published table and name there."""
        return {key: card for card in self.cards for key in card.keys}

    @cached_property
    def published_infos(self) -> Mapping[tuple[str, str], ModelInfo]:
        """By published table and name there: the model under its own name, with the page of its card."""
        infos = {
            (table, row.name): replace(self.card_of[table, row.name].info, name=joined.name, bits=None)
            for joined in self.reported.models
            for table, row in joined.rows.items()
        }
        first = {table.page: table.id for table in reversed(self.reported.tables)}
        smaller = {
            (table.id, row.name): infos[first[table.page], row.name]
            for table in self.reported.tables
            for row in table.rows
            if (first[table.page], row.name) in infos
        }
        return smaller | infos

    @cached_property
    def may_be(self) -> Mapping[str, Sequence[Doubt]]:
        """By id of a card, the others that may be the same model."""
        return doubts_of(self)

    @cached_property
    def files(self) -> Mapping[str, list[FileAggregate]]:
        """The files of each model's results."""
        return self.results.of_models(self.results.models)

    def board(self, name: str) -> Board | None:
        """The board of this id; None where there are no results for it."""
        return next((board for board in self.boards if board.plan.id == name), None)

    def newest(self, model: str, suites: Collection[str] | None = None) -> str:
        """Day or month of a model's newest result, on any or on these suites; empty if it is not known."""
        files = self.files.get(model, ())
        return max((file.ended for file in files if suites is None or file.suite in suites), default="")
