"""Who solves what: a row a model, a column a task, the easiest on the left."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from triathlon_site.figures._curves import shorten
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
    rows = [_row(name, shares[place], TOP + place * ROW, step) for place, name in enumerate(names)]
    right = LEFT + step * shares.shape[1]
    heads = [
        tag("text", "easiest", class_="tick", x=LEFT, y=12),
        tag("text", "hardest", class_="tick", x=right, y=12, text_anchor="end"),
    ]
    return svg(max(right, LEFT + 120), TOP + ROW * len(names) + 4, title, *heads, *rows)


def _row(name: str, shares: NDArray[np.float64], y: float, step: float) -> Markup:
    kinds = {
        "solved": shares > 1 - 1e-9,
        "partly": (shares > 0) & (shares <= 1 - 1e-9),
        "failed": shares == 0,
    }
    paths = [
        tag("path", class_=f"cell {kind}", d=_cells(np.flatnonzero(there), y + ROW / 2, step))
        for kind, there in kinds.items()
        if there.any()
    ]
    label = tag(
        "text", tag("title", name), shorten(name, 26), x=LEFT - 8, y=y + ROW / 2 + 4, text_anchor="end"
    )
    return tag("g", label, *paths)


def _cells(columns: NDArray[np.int64], y: float, step: float) -> str:
    """Neighbouring cells are one stroke where they are too narrow for a gap."""
    gap = 1.0 if step >= 5 else 0.0
    breaks = np.diff(columns) > 1 if not gap else np.ones(len(columns) - 1, dtype=bool)
    starts = columns[np.concatenate([[True], breaks])]
    ends = columns[np.concatenate([breaks, [True]])] + 1
    return "".join(
        f"M{number(LEFT + start * step)} {number(y)}h{number((end - start) * step - gap)}"
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    )
