"""Figures that others published, as the front page and the boards show them beside scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triathlon_site.published import (
    SAME,
    JoinedModel,
    ModelFacts,
    Places,
    Published,
    join_models,
    published_boards,
)
from triathlon_site.scores import Board
from triathlon_site.uncertainty import Interval


@dataclass(frozen=True, slots=True)
class ReportedFigure:
    """One figure that somebody published; it was not checked here."""

    value: float
    maximum: float
    interval: Interval | None
    """From the number of tasks; None where that is not known."""
    deviation: float | None
    """Published standard deviation over repeats."""
    title: str
    """Title of the table that it was copied from."""
    path: str
    """Path of that table's page, from the site's root."""
    date: str

    @property
    def note(self) -> str:
        """Its source and date, for its link."""
        return f"reported by {self.title}, {self.date}"

    @property
    def sort(self) -> str:
        """The value that scripts sort by."""
        return f"{self.value:.6g}"

    def scaled(self, maximum: float) -> "ReportedFigure":
        """The same figure on a scale that ends at `maximum`."""
        times = maximum / self.maximum
        span = self.interval and Interval(self.interval.low * times, self.interval.high * times)
        deviation = None if self.deviation is None else self.deviation * times
        return ReportedFigure(self.value * times, maximum, span, deviation, self.title, self.path, self.date)


class ReportedTables:
    """The published tables: their models, and the figures that they report."""

    def __init__(self, published: Published | None) -> None:
        boards = published_boards(published) if published else ()
        self.facts: Mapping[str, ModelFacts] = published.facts if published else {}
        self.models = join_models(published, boards) if published else ()
        self.boards = {board.id: board for board in boards}

    def facts_of(self, model: JoinedModel) -> ModelFacts:
        """The model's row of `models-info.csv`; without one, the organisation that a table names."""
        organization = next((row.organization for row in model.rows.values() if row.organization), "")
        return self.facts.get(model.name) or ModelFacts(model.name, organization=organization)

    def figure(self, model: JoinedModel, places: Places) -> ReportedFigure | None:
        """The first figure of a model in these places; None where there is none."""
        for name, field in places:
            if score := model.score(name, field):
                board = self.boards[name]
                maximum = next(column.maximum for column in board.columns if column.id == field)
                date = board.sources[0].as_of
                return ReportedFigure(
                    score.value, maximum, score.interval, score.deviation, board.title, board.page, date
                )
        return None

    def on_board(self, board: Board, model: JoinedModel) -> dict[str, ReportedFigure]:
        """The reported figures of a model in the columns of a board, by id of the column, on its scale."""
        figures = {}
        for column in board.plan.columns:
            figure = self.figure(model, SAME.get(board.plan.id, {}).get(column.id, ()))
            if figure:
                figures[column.id] = figure.scaled(column.maximum)
        return figures


def same_model(
    tables: ReportedTables, names: Mapping[str, str], boards: Sequence[Board]
) -> Mapping[str, JoinedModel]:
    """The published model of each model with results, by its id; only where it is certain that they are one.

    Of two published models with its name, it is the one with a figure in a column in which it has a score.

    Args:
        tables: the published tables.
        names: by id of a model with results, its name in the published tables.
        boards: the scores of the models.
    """
    by_name: dict[str, list[JoinedModel]] = {}
    for joined in tables.models:
        by_name.setdefault(joined.name, []).append(joined)
    same = {}
    for model, name in names.items():
        candidates = by_name.get(name, [])
        if len(candidates) > 1:
            candidates = [joined for joined in candidates if _share_a_column(tables, boards, model, joined)]
        if len(candidates) == 1:
            same[model] = candidates[0]
    return same


def _share_a_column(tables: ReportedTables, boards: Sequence[Board], model: str, joined: JoinedModel) -> bool:
    return any(
        model in column.scores and column.column.id in tables.on_board(board, joined)
        for board in boards
        if board.plan.id in SAME
        for column in board.columns
    )
