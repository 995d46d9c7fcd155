"""Reported figures in the table of a board: ranked by value, part of no tier and no paired test."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from heapq import merge

from triathlon_site.exports import ReportedScore
from triathlon_site.models import ModelInfo, reported_info
from triathlon_site.pages._reported import ReportedFigure, ReportedTables
from triathlon_site.published import JoinedModel
from triathlon_site.scores import Board, ColumnScores, known_share


@dataclass(frozen=True, slots=True)
class ReportedModel:
    """One published model that a board has figures of."""

    model: str
    """Id of the same model among those with results; empty where none is certainly the same."""
    info: ModelInfo
    figures: Mapping[str, ReportedFigure]
    """By id of a column."""


@dataclass(frozen=True, slots=True)
class ReportedModels:
    """The published models that a board has figures of."""

    filled: Mapping[str, Mapping[str, ReportedFigure]] = field(default_factory=dict)
    """Figures that fill empty cells of the board's models: by id of the model, then by column."""
    added: tuple[ReportedModel, ...] = ()
    """Models without a score on the board, which get rows of their own."""

    @property
    def columns(self) -> set[str]:
        """Ids of the columns that have a figure."""
        rows = (*self.filled.values(), *(row.figures for row in self.added))
        return {name for figures in rows for name in figures}

    def __bool__(self) -> bool:
        return bool(self.columns)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a row in the table."""

    model: str
    """Id of a model of the board; empty for a published one."""
    reported: ReportedModel | None
    """The published model; None for a model of the board."""
    rank: int | None = None
    """Of a row that is placed by a reported figure: 1 + how many of the board's models have higher scores."""

    @property
    def sort(self) -> str:
        """The value that scripts sort by: just above the board's model of that rank."""
        return "" if self.rank is None else str(self.rank - 0.5)


def reported_models(
    board: Board, tables: ReportedTables, same: Mapping[str, JoinedModel], models: Mapping[str, ModelInfo]
) -> ReportedModels:
    """The reported figures of a board; `same`: the published model of each model with results, by id."""
    ids: dict[int, list[str]] = {}
    for model, joined in same.items():
        ids.setdefault(id(joined), []).append(model)
    filled, added = {}, []
    for joined in tables.models:
        figures = tables.on_board(board, joined)
        if not figures:
            continue
        on_board = [model for model in ids.get(id(joined), []) if model in board.files]
        for model in on_board:
            filled[model] = {c: f for c, f in figures.items() if model not in _column(board, c).scores}
        if not on_board:
            model = next((model for model in ids.get(id(joined), []) if model in models), "")
            info = models[model] if model else reported_info(tables.facts_of(joined))
            added.append(ReportedModel(model, info, figures))
    return ReportedModels({model: figures for model, figures in filled.items() if figures}, tuple(added))


def reported_scores(reported: ReportedModels, models: Mapping[str, ModelInfo]) -> tuple[ReportedScore, ...]:
    """The same figures for the data files."""
    rows = [(model, models[model].name, figures) for model, figures in reported.filled.items()]
    rows += [(row.model, row.info.name, row.figures) for row in reported.added]
    return tuple(
        ReportedScore(
            column, model or None, name, figure.value, figure.interval, f"{figure.title}, {figure.date}"
        )
        for model, name, figures in rows
        for column, figure in figures.items()
    )


def places(board: Board, reported: ReportedModels) -> list[Place]:
    """The rows of a board, by the headline; those without a score or figure in it last.

    The board's models stay in their order: a reported figure moves none of them.
    """
    scores, column = board.headline.scores, board.headline.column.id
    scored = [(scores[model].value, Place(model, None)) for model in board.models if model in scores]
    placed = [(row[column].value, Place(m, None)) for m, row in reported.filled.items() if column in row]
    placed += [(row.figures[column].value, Place("", row)) for row in reported.added if column in row.figures]
    placed = [
        (value, replace(place, rank=1 + sum(score > value for score, _ in scored)))
        for value, place in sorted(placed, key=lambda pair: -pair[0])
    ]
    ranked = [place for _, place in merge(scored, placed, key=lambda pair: -pair[0])]
    listed = {place.model for place in ranked}
    unranked = [(known_share(m, board.columns), Place(m, None)) for m in board.models if m not in listed]
    unranked += [(_share(row), Place("", row)) for row in reported.added if column not in row.figures]
    return [*ranked, *(place for _, place in sorted(unranked, key=lambda pair: -pair[0]))]


def shown_columns(board: Board, reported: ReportedModels) -> list[ColumnScores]:
    """The columns of the table: those with a score or a reported figure."""
    shown = {id(column) for column in board.shown}
    return [c for c in board.columns if id(c) in shown or c.column.id in reported.columns]


def _column(board: Board, name: str) -> ColumnScores:
    return next(column for column in board.columns if column.column.id == name)


def _share(row: ReportedModel) -> float:
    """Mean share of the maximum over its figures."""
    shares = [figure.value / figure.maximum for figure in row.figures.values()]
    return sum(shares) / len(shares)
