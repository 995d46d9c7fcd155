"""Reported figures in the table of a board: ranked by value, part of no tier and no paired test."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

from triathlon_site.exports import ReportedScore
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages._reported import ShownScore, places_beside
from triathlon_site.pages._site import Gathered
from triathlon_site.scores import Board, ColumnScores, known_share

Key = tuple[bool, float, bool]
"""Of the order of rows: without a headline last, then by score, a reported figure behind an equal score."""


@dataclass(frozen=True, slots=True)
class ReportedModel:
    """One published model that a board has figures of."""

    model: str
    """Id of the same model among those with results; empty where none is certainly the same."""
    info: ModelInfo
    figures: Mapping[str, ShownScore]
    """By id of a column."""


@dataclass(frozen=True, slots=True)
class ReportedModels:
    """The published models that a board has figures of."""

    filled: Mapping[str, Mapping[str, ShownScore]] = field(default_factory=dict)
    """Figures that fill empty cells of the board's models: by id of the model, then by column."""
    added: tuple[ReportedModel, ...] = ()
    """Models without a score on the board, which get rows of their own."""

    @property
    def columns(self) -> set[str]:
        """Ids of the columns that have a figure."""
        rows = (*self.filled.values(), *(row.figures for row in self.added))
        return {name for figures in rows for name in figures}


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a row in the table."""

    model: str
    """Id of a model of the board; empty for a published one."""
    reported: ReportedModel | None = None
    """The published model; None for a model of the board."""
    rank: int | None = None
    """Of a row that is placed by a reported figure: 1 + how many of the board's models have higher scores."""
    among_all: int | None = None
    """The place of such a row among all scores and figures."""


def reported_models(site: Gathered, board: Board) -> ReportedModels:
    """The reported figures of a board."""
    ids: dict[int, list[str]] = defaultdict(list)
    for model, joined in site.same.items():
        ids[id(joined)].append(model)
    columns = {column.column.id: column for column in board.columns}
    filled: dict[str, dict[str, ShownScore]] = {}
    added = []
    for joined in site.reported.models:
        if figures := site.reported.on_board(board, joined):
            own = ids.get(id(joined), [])
            on_board = [model for model in own if model in board.files]
            for model in on_board:
                if empty := {column: f for column, f in figures.items() if not columns[column].shown(model)}:
                    filled[model] = empty
            if not on_board:
                model = next((model for model in own if model in site.models), "")
                source, row = next(iter(joined.rows.items()))
                info = site.models[model] if model else site.published_infos[source, row.name]
                added.append(ReportedModel(model, replace(info, bits=None), figures))
    return ReportedModels(filled, tuple(added))


def reported_scores(reported: ReportedModels, models: Models) -> tuple[ReportedScore, ...]:
    """The same figures for the data files."""
    rows = [(model, models[model].name, figures) for model, figures in reported.filled.items()]
    rows += [(row.model, row.info.name, row.figures) for row in reported.added]
    return tuple(
        ReportedScore(column, model or None, name, f.value, f.interval, f"{f.source}, {f.date}")
        for model, name, figures in rows
        for column, f in figures.items()
    )


def places(board: Board, reported: ReportedModels) -> list[Place]:
    """The rows of a board, by the headline; those without a score or figure in it last.

    The board's models stay in their order: a reported figure moves none of them.
    """
    scores, column = board.headline.scores, board.headline.column.id
    middles = [score.middle for score in scores.values()]
    filled = {m: figures[column] for m, figures in reported.filled.items() if column in figures}
    own = {model: figure for model, figure in filled.items() if model not in scores}
    values = [figure.value for figure in own.values()]
    values += [row.figures[column].value for row in reported.added if column in row.figures]

    def beside(figure: ShownScore, model: str, row: ReportedModel | None = None) -> tuple[Key, Place]:
        place = Place(model, row, *places_beside(figure.value, middles, values))
        return (False, -figure.value, True), place

    keyed: list[tuple[Key, Place]] = []
    for model in board.models:
        if model in scores:
            keyed.append(((False, -scores[model].middle, False), Place(model)))
        elif model in own:
            keyed.append(beside(own[model], model))
        else:
            keyed.append(((True, -known_share(model, board.columns), False), Place(model)))
    for row in reported.added:
        if figure := row.figures.get(column):
            keyed.append(beside(figure, "", row))
        else:
            shares = [figure.share for figure in row.figures.values()]
            keyed.append(((True, -sum(shares) / len(shares), False), Place("", row)))
    return [place for _, place in sorted(keyed, key=itemgetter(0))]


def shown_columns(board: Board, reported: ReportedModels) -> list[ColumnScores]:
    """The columns of the table: those with a score or a reported figure."""
    shown = {column.column.id for column in board.shown} | reported.columns
    return [column for column in board.columns if column.column.id in shown]
