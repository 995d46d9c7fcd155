"""Figures of a board's columns, for the whole board or for one model."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from triathlon_site.costs import mostly_ran, share_that_ran
from triathlon_site.figures import PALETTE, Series, curves, radar
from triathlon_site.models import Models
from triathlon_site.pages._cells import share_of_maximum
from triathlon_site.render import Figure
from triathlon_site.scores import Board, ColumnScores

MOST_MUTED: Final = 200
"""Lines in the background; more would make the page heavy."""
BEST: Final = 1
WORST: Final = 2
"""Models at the ends of the ranking whose curves are named beside those that a page is about."""
FEWEST_POINTS: Final = 3
"""Points below which a degradation curve is not drawn."""


def curve_columns(board: Board) -> list[ColumnScores]:
    """The columns of the degradation curve, the baseline first; empty on a board without loops."""
    points = [column for column in board.columns if column.column.role in {"baseline", "curve"}]
    return points if len(points) >= FEWEST_POINTS else []


def degradation_curve(board: Board, model: str) -> tuple[float, ...]:
    """Share of tasks, in per cent, that sustain 1…M loops; empty where it is not known."""
    return _values(curve_columns(board), model) or ()


def curve_and_radar(board: Board, shown: Sequence[str], models: Models) -> Iterator[Figure]:
    """The degradation curves, then the radar; a figure without data is left out."""
    figures = (_degradation_figure(board, shown, models), _radar_figure(board, shown, models))
    yield from (figure for figure in figures if figure.svg)


def _degradation_figure(board: Board, shown: Sequence[str], models: Models) -> Figure:
    """The degradation curves of these models and of both ends of the ranking, named; the others in grey."""
    lines = {model: line for model in board.models if (line := degradation_curve(board, model))}
    order = list(lines)
    labelled = [m for m in dict.fromkeys((*shown, *_ends(board, order))) if m in lines][:PALETTE]
    muted = [model for model in order if model not in labelled]
    step = -(-len(muted) // MOST_MUTED) or 1
    series = [
        Series(models[model].label, lines[model], muted=model not in labelled)
        for model in (*labelled, *muted[::step])
    ]
    svg = curves("Share of tasks that still pass after each loop", series)
    caption = (
        "Tasks that still pass in each loop, in per cent. A flat line loses nothing that was solved at first."
    )
    if muted:
        caption += f" Grey: {'the others' if step == 1 else f'one in {step} of the others'}."
    return Figure(svg, caption)


def _ends(board: Board, order: Sequence[str]) -> list[str]:
    """The models at both ends of the ranking, of those whose replies mostly were programs that ran."""

    def ran(models: Iterable[str]) -> Iterator[str]:
        return (model for model in models if mostly_ran(share_that_ran(board.files[model])))

    return [*islice(ran(order), BEST), *reversed(list(islice(ran(reversed(order)), WORST)))]


def _radar_figure(board: Board, shown: Sequence[str], models: Models) -> Figure:
    """Every ranked column beside the headline, one shape a model."""
    axes = [c for c in board.shown if c.column.ranked and not c.column.headline]
    series = [Series(models[m].label, values) for m in shown if (values := _values(axes, m)) is not None]
    svg = radar("Columns of this board, one shape a model", [c.column.title for c in axes], series)
    return Figure(
        svg,
        "Every column of the board in per cent of its maximum; the ring with a number is the end.",
    )


def _values(columns: Sequence[ColumnScores], model: str) -> tuple[float, ...] | None:
    """Scores in per cent of their maximum; None where a column has none of the model."""
    values = [share for column in columns if (share := share_of_maximum(column, model)) is not None]
    return tuple(values) if len(values) == len(columns) else None
