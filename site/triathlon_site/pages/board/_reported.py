"""Reported figures in the table of a board: ranked by value, part of no tier and no paired test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    """Id of the model with results that it is; empty where there is none, or none for certain."""
    info: ModelInfo
    figures: Mapping[str, ReportedFigure]
    """By id of a column."""


@dataclass(frozen=True, slots=True)
class ReportedModels:
    """The published models that a board has figures of."""

    fill: Mapping[str, Mapping[str, ReportedFigure]] = field(default_factory=dict)
    """By id of a model of the board, then by column."""
    others: tuple[ReportedModel, ...] = ()
    """Those that have no score of the board's own."""

    @property
    def columns(self) -> set[str]:
        """Ids of the columns that some figure stands in."""
        rows = (*self.fill.values(), *(other.figures for other in self.others))
        return {name for figures in rows for name in figures}

    def __bool__(self) -> bool:
        return bool(self.columns)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in the table."""

    model: str
    """Id of a model of the board; empty for a published one."""
    reported: ReportedModel | None
    """The published one."""
    rank: int | None = None
    """For a row that is placed by a reported figure: 1 + the board's own models with higher scores."""

    @property
    def sort(self) -> str:
        """What scripts sort by: just above the board's own model of that rank."""
        return "" if self.rank is None else str(self.rank - 0.5)


def reported_models(
    board: Board, tables: ReportedTables, same: Mapping[str, JoinedModel], models: Mapping[str, ModelInfo]
) -> ReportedModels:
    """The reported figures of a board's suites; `same`: by id of a model with results, the published one."""
    ids: dict[int, list[str]] = {}
    for model, joined in same.items():
        ids.setdefault(id(joined), []).append(model)
    fill, others = {}, []
    for joined in tables.models:
        figures = tables.on_board(board, joined)
        if not figures:
            continue
        own = [model for model in ids.get(id(joined), []) if model in board.files]
        for model in own:
            fill[model] = {c: f for c, f in figures.items() if model not in _column(board, c).scores}
        if not own:
            model = next(iter(ids.get(id(joined), [])), "")
            known = models[model] if model else reported_info(tables.facts_of(joined))
            others.append(ReportedModel(model, known, figures))
    return ReportedModels({model: figures for model, figures in fill.items() if figures}, tuple(others))


def reported_scores(reported: ReportedModels, models: Mapping[str, ModelInfo]) -> tuple[ReportedScore, ...]:
    """The same figures for the data files."""
    rows = [(model, models[model].name, figures) for model, figures in reported.fill.items()]
    rows += [(other.model, other.info.name, other.figures) for other in reported.others]
    return tuple(
        ReportedScore(column, model or None, name, one.value, one.interval, f"{one.title}, {one.date}")
        for model, name, figures in rows
        for column, one in figures.items()
    )


def places(board: Board, reported: ReportedModels) -> list[Place]:
    """The rows of a board, by the headline; those without a score or figure in it last.

    The board's own models stay in their order: a reported figure moves none of them.
    """
    headline = board.headline
    own = [(headline.scores[m].value, Place(m, None)) for m in board.models if m in headline.scores]
    claims = [
        (figures[headline.column.id].value, model, other)
        for figures, model, other in _claims(reported)
        if headline.column.id in figures
    ]
    placed = [
        (value, Place(model, other, 1 + sum(score > value for score, _ in own)))
        for value, model, other in sorted(claims, key=lambda claim: -claim[0])
    ]
    ranked = [place for _, place in merge(own, placed, key=lambda pair: -pair[0])]
    taken = {place.model for place in ranked if place.model}
    rest = [(known_share(m, board.columns), Place(m, None)) for m in board.models if m not in taken]
    rest += [
        (_share(other), Place("", other))
        for other in reported.others
        if headline.column.id not in other.figures
    ]
    return [*ranked, *(place for _, place in sorted(rest, key=lambda pair: -pair[0]))]


def shown_columns(board: Board, reported: ReportedModels) -> list[ColumnScores]:
    """The columns of the table: those that somebody has a score or a reported figure in."""
    shown = {id(column) for column in board.shown}
    return [c for c in board.columns if id(c) in shown or c.column.id in reported.columns]


def _claims(
    reported: ReportedModels,
) -> Sequence[tuple[Mapping[str, ReportedFigure], str, ReportedModel | None]]:
    """Rows that have no own score in the headline, and perhaps a reported figure."""
    filled = [(figures, model, None) for model, figures in reported.fill.items()]
    return [*filled, *((other.figures, "", other) for other in reported.others)]


def _column(board: Board, name: str) -> ColumnScores:
    return next(column for column in board.columns if column.column.id == name)


def _share(other: ReportedModel) -> float:
    """Mean share of the maximum over its figures."""
    shares = [figure.value / figure.maximum for figure in other.figures.values()]
    return sum(shares) / len(shares)
