"""Which figures a board has: built from its columns, for the whole board or for one model."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from markupsafe import Markup

from triathlon_runner.records import Discipline
from triathlon_site.figures import DotRow, Series, bars, curves, dots, radar
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._sections import Figure
from triathlon_site.scores import Board, ColumnScores

QUESTIONS: Final = ("coverage_accuracy", "state_accuracy", "path_accuracy", "output_accuracy")
"""Metrics of the runtime discipline that count single answers."""
MOST_MUTED: Final = 60
"""Lines that make a background; more are a grey patch, on every model's page."""
MOST_BARS: Final = 12
"""Models whose bars fit beside each other."""


def board_figures(board: Board, shown: Sequence[str], models: Mapping[str, ModelInfo]) -> list[Figure]:
    """What can be drawn of these models on this board; the other models stay in the background."""
    drawn = (
        _curves(board, shown, models),
        *_questions(board, shown, models),
        _radar(board, shown, models),
    )
    return [figure for figure in drawn if figure.svg]


def _curves(board: Board, shown: Sequence[str], models: Mapping[str, ModelInfo]) -> Figure:
    """Degradation curves: the baseline is their first point."""
    others = [model for model in board.models if model not in shown]
    every = -(-len(others) // MOST_MUTED) or 1
    named = [line for m in shown if (line := degradation_curve(board, m, models[m].name))]
    muted = [line for m in others[::every] if (line := _muted_curves(board).get(m))]
    svg = curves("Share of tasks that still pass after each loop", [*named, *muted], x_title="loop")
    grey = f" Grey: one in {every} of the other models." if every > 1 else ""
    return Figure(
        svg,
        f"Tasks that still pass in each loop, in per cent. A flat line is a model that keeps its word.{grey}",
    )


def _questions(board: Board, shown: Sequence[str], models: Mapping[str, ModelInfo]) -> Iterator[Figure]:
    """The four questions of the runtime discipline and how little of them holds together."""
    if board.plan.discipline != Discipline.RUNTIME:
        return
    columns = [*question_columns(board), board.headline]
    titles = [column.column.title for column in columns[:-1]]
    rows = [DotRow(models[m].name, tuple(_share(column, m) for column in columns)) for m in shown]
    title = "The four questions and incremental consistency"
    caption = "Bars: accuracy in each question, in per cent. Line: incremental consistency."
    if len(rows) <= MOST_BARS:
        yield Figure(bars(title, titles, "IC", rows), caption)
        return
    best = f"the best {MOST_BARS}"
    yield Figure(
        bars(f"{title}: {best}", titles, "IC", rows[:MOST_BARS]), f"{caption} {best.capitalize()} models."
    )
    text = "Accuracy in each question, in per cent; the upright bar: IC, what holds together."
    yield Figure(dots(title, (*titles, "IC"), rows), text)


def question_columns(board: Board) -> list[ColumnScores]:
    """One a question, in their order."""
    named = {column.column.id.partition(":")[2]: column for column in board.shown}
    return [named[name] for name in QUESTIONS if name in named]


def _share(column: ColumnScores, model: str) -> float | None:
    score = column.scores.get(model)
    return 100 * score.value / column.column.maximum if score else None


def degradation_curve(board: Board, model: str, name: str) -> Series | None:
    """Share of tasks, in per cent, that sustain 1…M loops; None on a board without loops."""
    values = _degradation(board).get(model)
    return Series(name, values) if values else None


@lru_cache(maxsize=64)
def _muted_curves(board: Board) -> dict[str, Series]:
    """By model; kept, as the page of every model shows those of the others."""
    return {model: Series("", values, muted=True) for model, values in _degradation(board).items()}


@lru_cache(maxsize=64)
def _degradation(board: Board) -> dict[str, tuple[float, ...]]:
    """By model; kept for every page that draws them."""
    points = [c for c in board.columns if c.column.role in {"baseline", "curve"}]
    if len(points) < 3:
        return {}
    known = (model for model in board.models if all(model in column.scores for column in points))
    return {model: _values(points, model) for model in known}


def _radar(board: Board, shown: Sequence[str], models: Mapping[str, ModelInfo]) -> Figure:
    axes = [c for c in board.shown if c.column.ranked and not c.column.headline]
    if board.plan.discipline == Discipline.RUNTIME:
        return Figure(Markup(""), "")
    series = [
        Series(models[model].name, _values(axes, model))
        for model in shown
        if all(model in column.scores for column in axes)
    ]
    svg = radar("Columns of this board, one shape a model", [c.column.title for c in axes], series)
    return Figure(svg, "Every column of the board, each axis from 0 to its maximum.")


def _values(columns: Sequence[ColumnScores], model: str) -> tuple[float, ...]:
    """Scores in per cent of their maximum."""
    return tuple(100 * c.scores[model].value / c.column.maximum for c in columns)


def neighbours(board: Board, model: str, reach: int = 2) -> Iterator[str]:
    """The model first, then those ranked next to it."""
    position = board.models.index(model)
    yield model
    for other in board.models[max(0, position - reach) : position + reach + 1]:
        if other != model:
            yield other
