"""Rank shifts across columns: one line a model, crossing where the columns disagree."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._svg import line, shorten, svg, tag, tick

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
    heads = [tick(column, LEFT + STEP * place, 14) for place, column in enumerate(columns)]
    rows: list[list[int]] = [[] for _ in lines]
    for column in range(len(columns)):
        ranks = [one.ranks[column] for one in lines]
        for row, index in enumerate(sorted(range(len(lines)), key=ranks.__getitem__)):
            rows[index].append(row)
    drawn = sorted(zip(lines, rows, strict=True), key=lambda pair: pair[0].colour is not None)
    marks = [_line(*pair) for pair in drawn]
    width = LEFT + STEP * (len(columns) - 1) + RIGHT
    return svg(width, TOP + GAP * len(lines) + 6, title, *heads, *marks)


def _line(one: RankLine, rows: Sequence[int]) -> Markup:
    points = [(LEFT + STEP * column, TOP + GAP * row + 0.0) for column, row in enumerate(rows)]
    first = tick(str(one.ranks[0]), LEFT - 10, points[0][1] + 4, "end")
    last = f"{one.ranks[-1]}  {shorten(one.name, 24)}"
    end = tag("text", tag("title", one.name), last, x=points[-1][0] + 10, y=points[-1][1] + 4)
    dots = [tag("circle", cx=x, cy=y, r=2.5) for x, y in points]
    return tag(
        "g", line(points), *dots, first, end, class_="other" if one.colour is None else f"c{one.colour}"
    )
