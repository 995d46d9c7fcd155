"""Our measurements beside what others report for the same model and set: how true the instrument is."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from triathlon_site.load import MEASURED
from triathlon_site.pages._scores import ShownScore, receipt_path
from triathlon_site.pages._site import Gathered, ModelSnapshot
from triathlon_site.published import SAME
from triathlon_site.render import Draft
from triathlon_site.scores import Board, ColumnScores, Score
from triathlon_site.uncertainty import Interval

PATH: Final = "truth.html"


@dataclass(frozen=True, slots=True)
class Pair:
    """One figure of ours and one that others report for the same model and quantity."""

    snapshot: ModelSnapshot
    column: str
    """Discipline and title."""
    own: Score
    maximum: float
    receipt: str
    """Address of the receipt of ours."""
    served: str
    """How the model was served here, by its manifests."""
    reported: ShownScore

    @property
    def difference(self) -> float:
        """Ours minus theirs, on the column's scale."""
        return self.own.middle - self.reported.value

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the difference of two independent figures; None where theirs has none.

        Its arms are the roots of the sums of both figures' squared arms (MOVER: Zou and Donner 2008, equation
        2). Both ran the same tasks, so that it is wider than it need be.
        """
        own, theirs = self.own.interval, self.reported.interval
        if theirs is None or not (own.known and theirs.known):
            return None
        down = math.hypot(self.own.middle - own.low, theirs.high - self.reported.value)
        up = math.hypot(own.high - self.own.middle, self.reported.value - theirs.low)
        return Interval(self.difference - down, self.difference + up)

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within both uncertainties; None where one of them is not known."""
        return None if self.interval is None else self.interval.low <= 0 <= self.interval.high


def drafts(site: Gathered) -> Iterator[Draft]:
    """The page, where a model was measured here for which others report the same quantity."""
    if found := list(pairs(site)):
        yield Draft(PATH, "truth/page", {"pairs": found})


def pairs(site: Gathered) -> Iterator[Pair]:
    """Every measured score of an official set with each figure that others report for it, by model."""
    columns = [
        (board, column)
        for board in site.boards
        if board.plan.family == "official"
        for column in board.columns
        if column.column.id in SAME
    ]
    for card in site.cards:
        for snapshot in card.snapshots:
            for board, column in columns:
                yield from _pairs(site, snapshot, board, column)


def _pairs(site: Gathered, snapshot: ModelSnapshot, board: Board, column: ColumnScores) -> Iterator[Pair]:
    for model in snapshot.ids:
        score = column.shown(model)
        if score is None or score.grade != MEASURED or snapshot.joined is None:
            continue
        suites = {suite for suite, _ in column.column.parts}
        manifests = [f.manifest for f in board.files[model] if f.suite in suites and f.manifest]
        for place in SAME[column.column.id]:
            if figure := site.reported.figure(snapshot.joined, (place,)):
                yield Pair(
                    snapshot,
                    f"{board.plan.discipline}: {column.column.title}",
                    score,
                    column.column.maximum,
                    receipt_path(column, model),
                    "; ".join(sorted({manifest.served_by for manifest in manifests})),
                    figure.scaled(column.column.maximum),
                )
