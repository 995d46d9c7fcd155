"""The models that a visitor can choose from: facts, costs and scores of the table of all models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.ability import IndexRow
from triathlon_site.pages.front import AllModels, FrontCell, ModelRow
from triathlon_site.uncertainty import Interval

_OPENNESS: Final = {True: "open", False: "closed", None: ""}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model."""

    name: str
    license: str
    openness: str
    """`open`, `closed` or empty where it is not known."""
    context: int | None
    """Tokens."""
    costs: Mapping[str, float]
    """By id of a `ChoiceCost`, where known."""
    scores: Mapping[str, tuple[float, Interval | None]]
    """By id of a column of the index, where there is one: the share of the maximum, since one source gives a
    share and another per cent; without an interval where none is known."""
    index: IndexRow


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """All candidates, with joint draws of the index."""

    models: tuple[Candidate, ...]
    index_draws: NDArray[np.float64]
    """Shape (draws, models)."""


def candidates(table: AllModels, solved: Mapping[str, float]) -> Candidates:
    """The models of a table, in its order; `solved`: by name, what a solved task cost, in dollars."""
    models = tuple(
        Candidate(
            name=row.name,
            license=row.info.license or "",
            openness=_OPENNESS[row.info.open_weights],
            context=int(row.facts.context) if row.facts.context else None,
            costs=_costs(row, solved),
            scores={column: _share(cell) for column, cell in row.cells.items()},
            index=row.index,
        )
        for row in table.rows
        if row.index
    )
    draws = table.index.draws if table.index else np.empty((0, 0))
    return Candidates(models, draws)


def _share(cell: FrontCell) -> tuple[float, Interval | None]:
    ends = cell.interval
    return cell.share, ends and Interval(ends.low / cell.maximum, ends.high / cell.maximum)


def _costs(row: ModelRow, solved: Mapping[str, float]) -> dict[str, float]:
    """The known costs by id; all parameters of a model count as active where nothing else is known."""
    info, active = row.info, row.facts.active_b
    costs = {
        "price": info.price[1] if info.price else None,
        "size": info.billions,
        "active": float(active) if active else info.billions,
        "released": _months((info.released or "")[:7]),
        "solved": solved.get(info.name),
    }
    return {name: value for name, value in costs.items() if value is not None}


def _months(released: str) -> float | None:
    """Months since the year 0 of `2024-11`; None where no month is known."""
    if "-" not in released:
        return None
    year, month = released.split("-")
    return 12.0 * int(year) + int(month) - 1
