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
FEWEST_FOR_GAP: Final = 5
"""Width of a cell from which on there is a gap to the next."""


def grid(title: str, names: Sequence[str], shares: NDArray[np.float64]) -> Markup:
    """`shares`: models × tasks, 0 to 1, nan for none. Full cells are solved, pale ones in part."""
    if not names or not shares.size:
        return Markup("")
    step = min(WIDEST, (WIDTH - LEFT) / shares.shape[1])
    rows = [
        _row(name, model_shares, TOP + place * ROW, step)
        for place, (name, model_shares) in enumerate(zip(names, shares, strict=True))
    ]
    right = LEFT + step * shares.shape[1]
    heads = [
        tag("text", "easiest", class_="tick", x=LEFT, y=12),
        tag("text", "hardest", class_="tick", x=right, y=12, text_anchor="end"),
    ]
    return svg(max(right, LEFT + 120), TOP + ROW * len(names) + 4, title, *heads, *rows)


def _path(there: NDArray[np.bool_], y: float, step: float) -> str:
    """Strokes of a row's cells; neighbours are one stroke where they are too narrow for a gap."""
    if step >= FEWEST_FOR_GAP:
        runs = [(column, column + 1) for column in np.flatnonzero(there).tolist()]
    else:
        edges = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
        runs = list(zip(edges[::2], edges[1::2], strict=True))
    gap = 1.0 if step >= FEWEST_FOR_GAP else 0.0
    strokes = [(LEFT + start * step, (end - start) * step - gap) for start, end in runs]
    return "".join(f"M{number(x)} {number(y)}h{number(width)}" for x, width in strokes)


def _row(name: str, shares: NDArray[np.float64], y: float, step: float) -> Markup:
    kinds = {
        "solved": shares > 1 - 1e-9,
        "partly": (shares > 0) & (shares <= 1 - 1e-9),
        "failed": shares == 0,
    }
    paths = [
        tag("path", class_=f"cell {kind}", d=_path(there, y + ROW / 2, step))
        for kind, there in kinds.items()
        if there.any()
    ]
    label = tag(
        "text", tag("title", name), shorten(name, 23), x=LEFT - 8, y=y + ROW / 2 + 4, text_anchor="end"
    )
    return tag("g", label, *paths)
