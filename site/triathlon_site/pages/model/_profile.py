"""The columns in which a model is better or worse than its rank, and all its dimensions in one figure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup

from triathlon_site.figures import Series, radar
from triathlon_site.models import Models
from triathlon_site.pages._cells import axis_title, dimension_title, dimensions
from triathlon_site.ranking import FEWEST_RANKED, Rank, RankShift
from triathlon_site.render import Figure, formats
from triathlon_site.scores import Board, Overall

MOST: Final = 6
"""Columns named in either direction."""


@dataclass(frozen=True)
class Contrast:
    """A model's rank in a column beside its rank in the headline or the overall order."""

    column: str
    rank: Rank
    against: int
    """Its rank in the headline of the discipline; for a headline its overall rank."""
    order: str
    """The order that `against` is a rank in: `loop ASL`, `the overall order`."""
    shift: RankShift
    """From the one rank to the other, among the models that have both."""


@dataclass(frozen=True)
class Profile:
    """The columns in which a model's rank differs from its headline or overall rank."""

    better: list[Contrast]
    worse: list[Contrast]
    compared: int
    """Number of columns that were compared."""
    radar: Figure


def profile(model: str, boards: Sequence[Board], overalls: Mapping[str, Overall], models: Models) -> Profile:
    """The contrasts whose direction 97.5 % of the draws share; both ranks are drawn with the same weights."""
    found = (*_in_boards(model, boards), *_between_boards(model, overalls))
    contrasts = [contrast for contrast in found if contrast.shift.told]
    sure = [contrast for contrast in contrasts if contrast.shift.significant]
    better = sorted((c for c in sure if c.shift.shift > 0), key=lambda c: (-c.shift.shift, c.column))[:MOST]
    worse = sorted((c for c in sure if c.shift.shift < 0), key=lambda c: (c.shift.shift, c.column))[:MOST]
    return Profile(better, worse, len(contrasts), _radar(model, boards, models))


def _in_boards(model: str, boards: Sequence[Board]) -> Iterator[Contrast]:
    for board in boards:
        headline = board.headline.scores.get(model)
        order = f"{board.plan.discipline} {formats.inside(board.plan.headline.title)}"
        for column in board.shown:
            score = column.scores.get(model)
            if headline and headline.rank and score and score.rank and score.contrast:
                title = dimension_title(board, column)
                yield Contrast(title, score.rank, headline.rank.rank, order, score.contrast)


def _between_boards(model: str, overalls: Mapping[str, Overall]) -> Iterator[Contrast]:
    for overall in overalls.values():
        for row in overall.rows:
            if row.model == model and row.rank:
                for board, score, shift in zip(overall.boards, row.scores, row.contrasts, strict=True):
                    if score and score.rank and shift:
                        title = dimension_title(board, board.headline)
                        yield Contrast(title, score.rank, row.rank.rank, "the overall order", shift)


def _radar(model: str, boards: Sequence[Board], models: Models) -> Figure:
    """Every dimension that the model has; grey: the median of all models."""
    axes = [(board, column) for board, column in dimensions(boards) if model in column.scores]
    if not axes:
        return Figure(Markup(""), "")
    shares = [
        {name: 100 * score.value / column.column.maximum for name, score in column.scores.items()}
        for _, column in axes
    ]
    series = [Series(models[model].label, tuple(share[model] for share in shares))]
    if shares and len(shares[0]) >= FEWEST_RANKED:
        medians = tuple(float(np.median(list(share.values()))) for share in shares)
        series.append(Series("median of all models", medians, muted=True))
    names = [axis_title(board, column) for board, column in axes]
    svg = radar(f"All dimensions of {models[model].label}", names, series)
    return Figure(svg, "All dimensions in per cent of their maximum; the ring with a number is the end.")
