"""The models that a visitor can choose from: facts, costs and scores of the table of all models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.ability import IndexRow
from triathlon_site.published import AllModels, ModelFacts
from triathlon_site.uncertainty import Interval

_OPENNESS: Final = {"yes": "open", "no": "closed", "": ""}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model."""

    name: str
    organization: str
    license: str
    openness: str
    """`open`, `closed` or empty where it is not known."""
    context: int | None
    """Tokens."""
    costs: Mapping[str, float]
    """By id of a `ChoiceCost`, where known."""
    scores: Mapping[str, tuple[float, Interval | None]]
    """By id of a column of the index, where there is one; without an interval where none is known."""
    index: IndexRow


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """All of them, with joint draws of the index."""

    models: tuple[Candidate, ...]
    index_draws: NDArray[np.float64]
    """Shape (draws, models)."""


def candidates(found: AllModels, solved: Mapping[str, float]) -> Candidates:
    """The models of the table of all models, in its order.

    Args:
        found: the table.
        solved: what a solved task cost where a model was measured, in dollars, by its name.
    """
    models = tuple(
        Candidate(
            name=line.name,
            organization=line.facts.organization,
            license=line.facts.licence,
            openness=_OPENNESS[line.facts.open_weights],
            context=int(line.facts.context) if line.facts.context else None,
            costs=_costs(line.facts, solved),
            scores={column: (cell.score.value, cell.score.interval) for column, cell in line.cells.items()},
            index=line.index,
        )
        for line in found.lines
    )
    place = {id(row): number for number, row in enumerate(found.index.rows)}
    return Candidates(models, found.index.draws[:, [place[id(line.index)] for line in found.lines]])


def _costs(facts: ModelFacts, solved: Mapping[str, float]) -> dict[str, float]:
    """Of a dense model, all parameters work on every token."""
    costs = {
        "price": facts.price[1] if facts.price else None,
        "size": facts.billions,
        "active": float(facts.active_b) if facts.active_b else facts.billions,
        "released": _months(facts.released),
        "solved": solved.get(facts.model),
    }
    return {name: value for name, value in costs.items() if value is not None}


def _months(released: str) -> float | None:
    """Months since the year 0 of `2024-11`; None for an empty text."""
    if not released:
        return None
    year, month = released.split("-")
    return 12.0 * int(year) + int(month) - 1
