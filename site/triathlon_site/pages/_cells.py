"""Cells of scores as tables show them, and the columns that are dimensions, with their titles elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from triathlon_runner.records import RECORDED
from triathlon_runner.unit_pages import model_slug
from triathlon_site.pages._reported import ShownScore
from triathlon_site.ranking import FEWEST_RANKED, RankShift
from triathlon_site.render import formats
from triathlon_site.scores import OTHER_PROTOCOL, UNITS_ARE_OPEN, Board, ColumnScores, Score

APART_MARKS: Final = {OTHER_PROTOCOL: "≠", UNITS_ARE_OPEN: "…"}
"""How a table marks a score that is in no ranking, by the reason."""
SUMS: Final = ("average_accuracy", "coverage_f1")
"""Metrics computed from others: not dimensions of their own."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One score in a table."""

    score: Score | None
    maximum: float
    receipt: str = ""
    """Address of the receipt from the site's root, where the column has scores that are recorded or were
    graded again; else empty: no cell needs a mark of its grade."""
    reported: ShownScore | None = None
    """The reported figure, where there is no score."""
    missing: str = ""
    """Sets that a mean lacks, where there is no score for that."""

    @property
    def grade(self) -> str:
        """`measured`, `recorded` or `reported`; empty where there is nothing."""
        return self.score.grade if self.score else self.reported.grade if self.reported else ""

    @property
    def apart(self) -> str:
        """The mark of a score that is in no ranking; empty where it is in one, or there is none."""
        return APART_MARKS[self.score.apart] if self.score and self.score.apart else ""

    @property
    def shift(self) -> RankShift | None:
        """The rank shift against plain pass@1; None where the column has none."""
        return self.score.shift if self.score else None


def cell(
    column: ColumnScores,
    model: str,
    *,
    marked: bool = False,
    reported: ShownScore | None = None,
    missing: str = "",
) -> Cell:
    """The cell of one model in one column.

    Args:
        column: the scores.
        model: its id.
        marked: whether the grade is marked also where the column has no recorded score.
        reported: the reported figure of a model without a score.
        missing: what a mean lacks, in words.
    """
    score, maximum = column.shown(model), column.column.maximum
    if score is None:
        return Cell(None, maximum, reported=reported, missing=missing)
    # among a few models a place says nothing
    if len(column.scores) < FEWEST_RANKED:
        score = replace(score, rank=None, tier=None)
    if score.shift and not score.shift.told:
        score = replace(score, shift=None)
    has_marks = marked or any(s.grade == RECORDED or s.judged_again for s in column.scores.values())
    return Cell(score, maximum, receipt_path(column, model) if has_marks or score.apart else "")


def marks_of(cells: Iterable[Cell]) -> set[str]:
    """The marks beside these scores: grades that are shown, `again` for a score that was graded again here,
    and the marks of scores in no ranking.
    """
    marked = [cell for cell in cells if cell.receipt or cell.reported]
    again = {"again" for cell in marked if cell.score and cell.score.judged_again}
    return {cell.grade for cell in marked} | {cell.apart for cell in marked if cell.apart} | again


def receipt_path(column: ColumnScores, model: str) -> str:
    """Address of a model's receipt of a column; for a mean over several suites, that of all its receipts."""
    suites = [suite for suite, _ in column.column.parts]
    anchor = formats.receipt_anchor(suites[0]) if len(suites) == 1 else "receipts"
    return f"models/{model_slug(model)}.html#{anchor}"


def dimensions(boards: Sequence[Board]) -> list[tuple[Board, ColumnScores]]:
    """The dimensions of the first family of data that has boards.

    They are the ranked columns that are neither a mean over several sets nor the sum of other columns.
    """
    return [
        (board, column)
        for board in boards
        if board.plan.family == boards[0].plan.family
        for column in board.shown
        if column.column.ranked
        and len(column.column.parts) == 1
        and column.column.id.partition(":")[2] not in SUMS
    ]


def dimension_title(board: Board, column: ColumnScores) -> str:
    """`loop pass@1`; with its data where that is not our own problems."""
    data = "" if board.plan.family == "core" else f" ({board.plan.title})"
    return f"{board.plan.discipline} {formats.inside(column.column.title)}{data}"


def axis_title(board: Board, column: ColumnScores) -> str:
    """`runtime IC`: short enough for the axis of a figure."""
    return f"{board.plan.discipline} {short_title(column)}"


def short_title(column: ColumnScores) -> str:
    """The title of a column behind the name of its discipline: `IC` for incremental consistency."""
    return "IC" if column.column.id.endswith(":ic") else formats.inside(column.column.title)


def share_of_maximum(column: ColumnScores, model: str) -> float | None:
    """A score in per cent of the column's maximum; None for a model without one."""
    score = column.scores.get(model)
    return 100 * score.value / column.column.maximum if score else None
