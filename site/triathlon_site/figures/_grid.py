"""Who solves what: a row a model, a column a task, the easiest on the left."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from triathlon_site.figures._degradation_curve import shorten
from triathlon_site.figures._svg import number, svg, tag

WIDTH: Final = 1000
LEFT: Final = 180
ROW: Final = 15
TOP: Final = 22
WIDEST: Final = 14.0


def grid(title: str, names: Sequence[str], shares: NDArray[np.float64]) -> Markup:
    """`shares`: models × tasks, 0 to 1, nan for none. Full cells are solved, pale ones in part."""
    if not names or not shares.size:
        return Markup("")
    step = min(WIDEST, (WIDTH - LEFT) / shares.shape[1])
    cells = _Cells(shares.shape[1], step)
    rows = [
        _row(name, own, TOP + place * ROW, cells)
        for place, (name, own) in enumerate(zip(names, shares, strict=True))
    ]
    right = LEFT + step * shares.shape[1]
    heads = [
        tag("text", "easiest", class_="tick", x=LEFT, y=12),
        tag("text", "hardest", class_="tick", x=right, y=12, text_anchor="end"),
    ]
    return svg(max(right, LEFT + 120), TOP + ROW * len(names) + 4, title, *heads, *rows)


class _Cells:
    """Strokes of the cells of a row: places and widths are the same in every row, and written once."""

    def __init__(self, columns: int, step: float) -> None:
        self._gap = 1.0 if step >= 5 else 0.0
        self._starts = [f"M{number(LEFT + column * step)} " for column in range(columns)]
        self._widths = [f"h{number(cells * step - self._gap)}" for cells in range(columns + 1)]

    def path(self, there: NDArray[np.bool_], y: float) -> str:
        """Neighbouring cells are one stroke where they are too narrow for a gap."""
        height = number(y)
        if self._gap:
            end = height + self._widths[1]
            return "".join([self._starts[column] + end for column in np.flatnonzero(there).tolist()])
        edges = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
        runs = zip(edges[::2], edges[1::2], strict=True)
        return "".join([self._starts[start] + height + self._widths[end - start] for start, end in runs])


def _row(name: str, shares: NDArray[np.float64], y: float, cells: _Cells) -> Markup:
    kinds = {
        "solved": shares > 1 - 1e-9,
        "partly": (shares > 0) & (shares <= 1 - 1e-9),
        "failed": shares == 0,
    }
    paths = [
        tag("path", class_=f"cell {kind}", d=cells.path(there, y + ROW / 2))
        for kind, there in kinds.items()
        if there.any()
    ]
    label = tag(
        "text", tag("title", name), shorten(name, 23), x=LEFT - 8, y=y + ROW / 2 + 4, text_anchor="end"
    )
    return tag("g", label, *paths)
