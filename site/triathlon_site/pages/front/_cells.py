"""Cells of the table of all models: one score of any grade, with its interval and where it comes from."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_site.load import FileAggregate, Results
from triathlon_site.pages._cells import receipt_path
from triathlon_site.pages._reported import ReportedTables
from triathlon_site.pages.front._columns import FrontColumn
from triathlon_site.published import JoinedModel
from triathlon_site.scores import Board, ColumnScores
from triathlon_site.uncertainty import Interval

REPORTED: Final = "reported"


@dataclass(frozen=True, slots=True)
class FrontCell:
    """One score of one model."""

    value: float
    maximum: float
    interval: Interval | None
    grade: str
    """`measured`, `recorded` or `reported`."""
    link: str
    """Path from the site's root, of the receipt or of the table that the figure was copied from."""
    date: str
    note: str
    """Grade, date and source in words, for the link."""
    tier: int | None = None
    """None for a reported one."""
    upper: float | None = None
    """The upper end where the score is only known as a range."""
    deviation: float | None = None
    """Published standard deviation over repeats."""
    tasks: float = np.nan
    """Independent tasks behind the score; nan where only the column's number of tasks is known."""
    judged_again: bool = False
    """Whether it was measured, and graded again here."""
    replaced: "FrontCell | None" = None
    """The reported figure that is not shown because of this one."""

    @property
    def share(self) -> float:
        """The value as a share of the maximum."""
        return self.value / self.maximum


class ScoreCells:
    """Cells of measured and recorded scores."""

    def __init__(self, boards: Sequence[Board], results: Results) -> None:
        self.boards = boards
        self._by_id = {board.plan.id: board for board in boards}
        self._files: dict[str, list[FileAggregate]] = results.of_models(results.models)

    def board(self, column: FrontColumn) -> Board | None:
        """Where the column's scores are; None where there are none."""
        return self._by_id.get(column.board)

    def find(self, column: FrontColumn, model: str) -> FrontCell | None:
        """The cell of one model; None where it has no score."""
        board = self.board(column)
        scores = _scores_of(board, column.suite) if board else None
        if board is None or scores is None or model not in scores.scores:
            return None
        score = scores.scores[model]
        suites = {suite for suite, _ in scores.column.parts}
        date = self.newest(model, suites)
        part = board.part_run(model) if not column.suite else ""
        regraded = "graded again here" if score.judged_again else ""
        note = (score.grade, regraded, date, part and f"on {part} tasks")
        return FrontCell(
            score.value,
            scores.column.maximum,
            score.interval,
            score.grade,
            receipt_path(scores, model),
            date,
            ", ".join(filter(None, note)),
            score.tier,
            score.upper,
            judged_again=score.judged_again,
            tasks=min(column.index.tasks, independent_tasks(scores, model)),
        )

    def newest(self, model: str, suites: Collection[str] | None = None) -> str:
        """Day or month of the model's newest result, on any or on these suites; empty if it is not known."""
        files = self._files.get(model, ())
        return max((file.ended for file in files if suites is None or file.suite in suites), default="")


def independent_tasks(column: ColumnScores, model: str) -> int:
    """Seeds of the tasks that the model's score rests on: problems made from one seed count once."""
    seeds: set[str] = set()
    for sample in column.samples:
        row = sample.models.index(model)
        for place in np.flatnonzero(sample.denominators[row]):
            seeds.update(sample.origins[place])
    return len(seeds)


def reported_cell(column: FrontColumn, model: JoinedModel, tables: ReportedTables) -> FrontCell | None:
    """The figure that somebody published; None where nobody did."""
    figure = tables.figure(model, column.reported)
    if figure is None:
        return None
    return FrontCell(
        figure.value,
        figure.maximum,
        figure.interval,
        REPORTED,
        figure.path,
        figure.date,
        figure.note,
        deviation=figure.deviation,
    )


def _scores_of(board: Board, suite: str) -> ColumnScores | None:
    """The column of one suite; the headline where `suite` is empty."""
    if not suite:
        return board.headline
    return next((c for c in board.columns if [part[0] for part in c.column.parts] == [suite]), None)
