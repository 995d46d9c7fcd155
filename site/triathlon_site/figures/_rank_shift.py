"""Rank shifts across columns: one line a model, crossing where the columns disagree."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from triathlon_site.figures._degradation_curve import shorten
from triathlon_site.figures._svg import path, svg, tag

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
    rows = [_rows(lines, column) for column in range(len(columns))]
    width = LEFT + STEP * (len(columns) - 1) + RIGHT
    heads = [
        tag("text", column, class_="tick", x=LEFT + STEP * position, y=14, text_anchor="middle")
        for position, column in enumerate(columns)
    ]
    order = sorted(range(len(lines)), key=lambda index: lines[index].colour is not None)
    marks = [_line(lines[index], [row[index] for row in rows]) for index in order]
    return svg(width, TOP + GAP * len(lines) + 6, title, *heads, *marks)


def _rows(lines: Sequence[RankLine], column: int) -> list[int]:
    """The row of each line in one column: ranks made distinct."""
    order = sorted(range(len(lines)), key=lambda index: (lines[index].ranks[column], index))
    rows = [0] * len(lines)
    for row, index in enumerate(order):
        rows[index] = row
    return rows


def _line(line: RankLine, rows: Sequence[int]) -> Markup:
    points = [(LEFT + STEP * column, TOP + GAP * row + 0.0) for column, row in enumerate(rows)]
    first = tag("text", str(line.ranks[0]), class_="tick", x=LEFT - 10, y=points[0][1] + 4, text_anchor="end")
    last = f"{line.ranks[-1]}  {shorten(line.name, 24)}"
    end = tag("text", tag("title", line.name), last, x=points[-1][0] + 10, y=points[-1][1] + 4)
    dots = [tag("circle", cx=x, cy=y, r=2.5) for x, y in points]
    colour = "other" if line.colour is None else f"c{line.colour}"
    return tag("g", tag("path", class_="line", d=path(points)), *dots, first, end, class_=colour)
