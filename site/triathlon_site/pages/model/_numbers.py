"""Every number of one model: its place in the table of all models, and what others reported."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triathlon_site.costs import mostly_ran
from triathlon_site.overall_index import IndexRow
from triathlon_site.pages._cards import ModelCard
from triathlon_site.pages._reported import ShownScore
from triathlon_site.pages._site import Gathered
from triathlon_site.published import PublishedColumn, PublishedScore, PublishedTable


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """What the table of all models shows of one model."""

    index: IndexRow | None
    cells: Sequence[tuple[str, ShownScore]]
    """By name of a column."""
    ran: float | None
    """Share of the replies that were programs which ran; None where no programs were asked for here."""

    @property
    def mostly_ran(self) -> bool:
        """Whether its scores are of its skill, not of replies in a form that nothing could run."""
        return mostly_ran(self.ran)


@dataclass(frozen=True, slots=True)
class ReportedNumber:
    """One figure that others published."""

    table: PublishedTable
    column: PublishedColumn
    score: PublishedScore
    name: str
    """The model's name there."""
    snapshot: str
    """Which snapshot of a product it is of, in words; empty for a model that is no product."""


def reported_numbers(site: Gathered, card: ModelCard) -> Iterator[ReportedNumber]:
    """Every figure of every ranking that has the model, snapshot by snapshot."""
    for one in card.snapshots:
        for table_id, row in (one.joined.rows if one.joined else {}).items():
            table = site.reported.boards[table_id]
            for column in table.columns:
                if score := row.scores.get(column.id):
                    yield ReportedNumber(table, column, score, row.name, one.label)
