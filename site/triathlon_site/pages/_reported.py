"""Figures that others published, as the front page and the boards show them beside their own scores."""

from collections.abc import Iterable, Mapping, Sequence
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
    """Of the table that it was copied from."""
    path: str
    """Of that table's page, from the site's root."""
    date: str

    @property
    def note(self) -> str:
        """How it was come by, for its link."""
        return f"reported by {self.title}, {self.date}"

    @property
    def sort(self) -> str:
        """What scripts sort by."""
        return f"{self.value:.6g}"

    def scaled(self, maximum: float) -> "ReportedFigure":
        """The same figure on a scale that ends at `maximum`."""
        times = maximum / self.maximum
        span = self.interval and Interval(self.interval.low * times, self.interval.high * times)
        deviation = None if self.deviation is None else self.deviation * times
        return ReportedFigure(self.value * times, maximum, span, deviation, self.title, self.path, self.date)


class ReportedTables:
    """The published tables: which models they have, and what they report of them."""

    def __init__(self, published: Published | None) -> None:
        boards = published_boards(published) if published else ()
        self.facts: Mapping[str, ModelFacts] = published.facts if published else {}
        self.models = join_models(published, boards) if published else ()
        self.boards = {board.id: board for board in boards}

    def facts_of(self, model: JoinedModel) -> ModelFacts:
        """What `models-info.csv` says; where it has no row, the organisation that a table names."""
        named = next((row.organization for row in model.rows.values() if row.organization), "")
        return self.facts.get(model.name) or ModelFacts(model.name, organization=named)

    def figure(self, model: JoinedModel, places: Places) -> ReportedFigure | None:
        """The first figure of a model in these places; None where there is none."""
        for name, field in places:
            if score := model.score(name, field):
                board = self.boards[name]
                maximum = next(one.maximum for one in board.columns if one.id == field)
                date = board.sources[0].as_of
                return ReportedFigure(
                    score.value, maximum, score.interval, score.deviation, board.title, board.page, date
                )
        return None

    def on_board(self, board: Board, model: JoinedModel) -> dict[str, ReportedFigure]:
        """What is reported of a model in the columns of a board, by id of the column, on its scale."""
        found = {}
        for column in board.plan.columns:
            figure = self.figure(model, SAME.get(board.plan.id, {}).get(column.id, ()))
            if figure:
                found[column.id] = figure.scaled(column.maximum)
        return found


def same_model(
    tables: ReportedTables, names: Mapping[str, str], boards: Iterable[Board]
) -> Mapping[str, JoinedModel]:
    """By id of a model with results, the published model that it is; only where that is certain.

    Where two published models have its name, it is the one with a figure in a column that it has, too.

    Args:
        tables: the published tables.
        names: by id of a model with results, its name in the published tables.
        boards: its scores.
    """
    by_name: dict[str, list[JoinedModel]] = {}
    for joined in tables.models:
        by_name.setdefault(joined.name, []).append(joined)
    boards, found = list(boards), {}
    for model, name in names.items():
        same = by_name.get(name, [])
        if len(same) > 1:
            same = [joined for joined in same if _share_a_column(tables, boards, model, joined)]
        if len(same) == 1:
            found[model] = same[0]
    return found


def _share_a_column(tables: ReportedTables, boards: Sequence[Board], model: str, joined: JoinedModel) -> bool:
    return any(
        model in column.scores and column.column.id in tables.on_board(board, joined)
        for board in boards
        if board.plan.id in SAME
        for column in board.columns
    )
