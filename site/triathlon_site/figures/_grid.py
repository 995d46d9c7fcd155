"""Who solves what: a row a model, a column a task, the easiest on the left."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from triathlon_site.figures._template import draw
from triathlon_site.render.formats import px

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
    right = LEFT + step * shares.shape[1]
    rows = []
    for place, (name, row) in enumerate(zip(names, shares, strict=True)):
        y = TOP + place * ROW + ROW / 2
        solved = row > 1 - 1e-9
        kinds = {"solved": solved, "partly": (row > 0) & ~solved, "failed": row == 0}
        rows.append((name, y, {kind: _strokes(there, y, step) for kind, there in kinds.items()}))
    height = TOP + ROW * len(names) + 4
    return draw("grid", title, max(right, LEFT + 120), height, left=LEFT, right=right, rows=rows)


def _strokes(there: NDArray[np.bool_], y: float, step: float) -> str:
    """Strokes of a row's cells; neighbours are one stroke where they are too narrow for a gap."""
    gap = 1.0 if step >= FEWEST_FOR_GAP else 0.0
    if gap:
        runs = [(column, column + 1) for column in np.flatnonzero(there).tolist()]
    else:
        edges = np.flatnonzero(np.diff(there, prepend=False, append=False)).tolist()
        runs = list(zip(edges[::2], edges[1::2], strict=True))
    strokes = [(LEFT + start * step, (end - start) * step - gap) for start, end in runs]
    return "".join(f"M{px(x)} {px(y)}h{px(width)}" for x, width in strokes)
