"""Rank shifts across columns: one line a model, crossing where the columns disagree."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._template import draw

LEFT, RIGHT, TOP, STEP, GAP = 40, 190, 30, 150, 17


@dataclass(frozen=True, slots=True)
class RankLine:
    """One model's rank in each column."""

    name: str
    ranks: tuple[int, ...]
    colour: int | None = None
    """A palette colour, None for grey."""


def rank_shift(title: str, columns: Sequence[str], lines: Sequence[RankLine]) -> Markup:
    """One line a model, rank 1 on top. Ties are drawn side by side in the order of the lines."""
    if len(columns) < 2 or len(lines) < 2:
        return Markup("")
    heads = [(column, LEFT + STEP * place) for place, column in enumerate(columns)]
    points: list[list[tuple[float, float]]] = [[] for _ in lines]
    for place, (_, x) in enumerate(heads):
        order = sorted(range(len(lines)), key=lambda index: lines[index].ranks[place])
        for row, index in enumerate(order):
            points[index].append((x, TOP + GAP * row))
    drawn = sorted(zip(lines, points, strict=True), key=lambda pair: pair[0].colour is not None)
    return draw(
        "rank_shift", title, heads[-1][1] + RIGHT, TOP + GAP * len(lines) + 6, heads=heads, lines=drawn
    )
