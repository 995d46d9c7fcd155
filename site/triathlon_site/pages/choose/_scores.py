"""The scores and costs that models can be chosen by, and joint draws of the scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_site.frontier import DRAWS, frontier_shares, interval_draws, undominated
from triathlon_site.overall_index import IndexRow
from triathlon_site.pages._reported import ShownScore
from triathlon_site.pages.front import FRONT, AllModels, ModelRow
from triathlon_site.render import formats
from triathlon_site.uncertainty import Interval, share_interval

INDEX: Final = "index"
STEPS: Final = 4095
"""Two characters of 6 bits a draw, as the page loads them."""
OPENNESS: Final = {True: "open", False: "closed", None: ""}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model."""

    name: str
    page: str
    """From the site's root."""
    license: str
    openness: str
    """`open`, `closed` or empty where it is not known."""
    usable: bool | None
    """Whether it can be used on the day of the site; None where that is not known."""
    context: int | None
    """Tokens."""
    costs: Mapping[str, float]
    """By id of a `ChoiceCost`, where known."""
    scores: Mapping[str, ShownScore]
    """By id of a column of the index, where there is one."""
    index: IndexRow
    mostly_ran: bool = True
    """Whether its scores are of its skill, not of replies in a form that nothing could run."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """All candidates, with joint draws of the index."""

    models: tuple[Candidate, ...]
    index_draws: NDArray[np.float64]
    """Shape (draws, models)."""


@dataclass(frozen=True, slots=True)
class ChoiceScore:
    """A score by which a model can be chosen."""

    id: str
    title: str
    short: str
    """As it stands within a sentence."""
    maximum: float = 100.0
    """10 or 100; the scale of the index has no end."""


@dataclass(frozen=True, slots=True)
class ChoiceCost:
    """A cost that a score is set against; less is better."""

    id: str
    title: str
    least: str
    """Word for the model with the lowest value: `cheapest`."""
    noun: str
    """Word for it in a sentence: `a known price`."""
    unit: str
    """`{}` stands for the value."""


SCORES: Final = (
    *(ChoiceScore(of.id, of.name, of.within, of.maximum) for of in FRONT),
    ChoiceScore(INDEX, "Index over all columns", "the index"),
)
PRICE: Final = ChoiceCost(
    "price", "List price of output, $ per million tokens", "cheapest", "price", "${} / M"
)
SIZE: Final = ChoiceCost("size", "Parameters, billions", "smallest", "size", "{} B")
COSTS: Final = (
    PRICE,
    ChoiceCost("input", "List price of input, $ per million tokens", "cheapest", "price", "${} / M in"),
    SIZE,
    ChoiceCost("memory", "GPU memory of the weights with 4 bits, GB", "smallest", "size", "{} GB"),
    ChoiceCost("active", "Active parameters, billions", "smallest", "size", "{} B active"),
    ChoiceCost("released", "Released", "first", "date", "{}"),
    ChoiceCost(
        "solved", "Measured cost of a solved task, $", "cheapest", "measured cost", "${} / solved task"
    ),
)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredModels:
    """The models that have one score, with joint draws of it."""

    score: ChoiceScore
    models: list[Candidate]
    frame: pd.DataFrame
    """A row a model: its name as `model`, its `page`, its score as `value` with the interval `low` to `high`,
    and all three as pages show them as `shown`."""
    draws: NDArray[np.float64]
    """In whole steps from 0 to STEPS, shape (DRAWS, models): only their order counts."""

    def frontier(self, cost: ChoiceCost, holds: Callable[[Candidate], bool] = lambda _: True) -> pd.DataFrame:
        """The rows of the models that `holds` is true of and whose cost is known.

        With the columns `cost`, `undominated` (on the frontier by the score) and `frontier_share` (the part
        of the draws in which the model is on it). The index is the model's place in `models`.
        """
        rows = [row for row, model in enumerate(self.models) if holds(model) and cost.id in model.costs]
        costs = np.array([self.models[row].costs[cost.id] for row in rows])
        frame = self.frame.iloc[rows].assign(cost=costs)
        if rows:
            frame["undominated"] = undominated(frame["value"].to_numpy(), costs)
            frame["frontier_share"] = frontier_shares(self.draws[:, rows], costs)
        return frame


def candidates(table: AllModels, solved: Mapping[str, float]) -> Candidates:
    """The models of a table, in its order; `solved`: by name, what a solved task cost, in dollars."""
    models = tuple(
        Candidate(
            name=row.name,
            page=row.page,
            license=row.info.license or "",
            openness=OPENNESS[row.info.open_weights],
            usable=row.info.usable,
            context=row.info.context,
            costs=_costs(row, solved),
            scores=row.cells,
            index=row.index,
            mostly_ran=row.mostly_ran,
        )
        for row in table.rows
        if row.index
    )
    return Candidates(models, table.index.draws if table.index else np.empty((0, 0)))


def _costs(row: ModelRow, solved: Mapping[str, float]) -> dict[str, float]:
    """The known costs by id; all parameters of a model count as active where nothing else is known.

    A date is months since the year 0.
    """
    info = row.info
    year, _, month = (info.released or "")[:7].partition("-")
    costs = {
        "price": info.price[1] if info.price else None,
        "input": info.price[0] if info.price else None,
        "memory": info.memory[1] if info.memory else None,
        "size": info.billions,
        "active": info.active_billions or info.billions,
        "released": 12.0 * int(year) + int(month) - 1 if month else None,
        "solved": solved.get(info.name),
    }
    return {name: value for name, value in costs.items() if value is not None}


def scored_models(candidates: Candidates, score: ChoiceScore) -> ScoredModels | None:
    """The models that have this score; None where none has.

    Where no interval is known, it is that of a share of the column's number of tasks.
    """
    models = [model for model in candidates.models if score.id in {INDEX, *model.scores}]
    if not models:
        return None
    if score.id == INDEX:
        rows = [model.index for model in models]
        values = np.array([row.value for row in rows])
        ends = np.array([(row.low, row.high) for row in rows])
        draws = candidates.index_draws[:: max(1, len(candidates.index_draws) // DRAWS)][:DRAWS]
        texts = [tuple(map(formats.points, (row.value, row.low, row.high))) for row in rows]
    else:
        tasks = next(column.tasks for column in FRONT if column.id == score.id)
        cells = [model.scores[score.id] for model in models]
        known = [_interval(cell, tasks) for cell in cells]
        values = np.round(score.maximum * np.array([cell.share for cell in cells]), 9)
        ends = np.array(
            [
                (score.maximum * span.low / cell.maximum, score.maximum * span.high / cell.maximum)
                for span, cell in zip(known, cells, strict=True)
            ]
        )
        texts = [
            tuple(formats.score(end, cell.maximum) for end in (cell.value, span.low, span.high))
            for span, cell in zip(known, cells, strict=True)
        ]
        intervals = [Interval(low, high) for low, high in ends.tolist()]
        draws = interval_draws(values.tolist(), intervals, score.maximum, score.id)
    names = [model.name for model in models]
    frame = pd.DataFrame({"model": names, "value": values, "low": ends[:, 0], "high": ends[:, 1]})
    frame["page"] = [model.page for model in models]
    frame["shown"] = [f"{value} ({low}–{high})" for value, low, high in texts]
    low, high = float(draws.min()), float(draws.max())
    stepped = np.asarray(np.round((draws - low) / ((high - low) or 1.0) * STEPS))
    return ScoredModels(score, models, frame, stepped)


def _interval(cell: ShownScore, tasks: int) -> Interval:
    """The score's interval, on its own scale; that of a share of so many tasks where none is known."""
    if cell.interval:
        return cell.interval
    span = share_interval(cell.share * tasks, tasks)
    return Interval(span.low * cell.maximum, span.high * cell.maximum)
