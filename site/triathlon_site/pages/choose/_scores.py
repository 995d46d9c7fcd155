"""The scores and costs that models can be chosen by, and joint draws of the scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.ability import COLUMNS
from triathlon_site.frontier import DRAWS, interval_draws
from triathlon_site.pages.choose._candidates import Candidate, Candidates
from triathlon_site.uncertainty import Interval, share_interval

INDEX: Final = "index"
STEPS: Final = 4095
"""Two characters of 6 bits a draw, as the page loads them."""


@dataclass(frozen=True, slots=True)
class ChoiceScore:
    """A score by which a model can be chosen."""

    id: str
    title: str
    short: str
    """As it stands within a sentence."""
    maximum: float
    """10 or 100; the scale of the index has no end."""


@dataclass(frozen=True, slots=True)
class ChoiceCost:
    """A cost that a score is set against; less is better."""

    id: str
    title: str
    noun: str
    """Word for it in a sentence: `a known price`."""
    least: str
    """Word for the model with the lowest value: `cheapest`."""
    unit: str
    """`{}` stands for the value."""
    logarithmic: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ScoredModels:
    """The models that have one score, with joint draws of it."""

    score: ChoiceScore
    models: tuple[Candidate, ...]
    values: NDArray[np.float64]
    intervals: tuple[Interval, ...]
    draws: NDArray[np.float64]
    """In whole steps from 0 to STEPS, shape (DRAWS, models): only their order counts."""


SCORES: Final = (
    ChoiceScore(INDEX, "Index over all columns", "the index", 100.0),
    ChoiceScore("loop", "Loop: ASL on MBPP+", "loop", 10.0),
    ChoiceScore("runtime_output", "Runtime: CRUXEval output", "runtime (CRUXEval output)", 100.0),
    ChoiceScore("runtime_consistency", "Runtime: DREval consistency", "runtime (DREval)", 100.0),
    ChoiceScore("evolved", "Evolved: EvoEval mean", "evolved", 100.0),
    ChoiceScore("humaneval_plus", "HumanEval+ pass@1", "HumanEval+", 100.0),
    ChoiceScore("mbpp_plus", "MBPP+ pass@1", "MBPP+", 100.0),
)
PRICE: Final = ChoiceCost(
    "price", "List price of output, $ per million tokens", "price", "cheapest", "${} / M"
)
SIZE: Final = ChoiceCost("size", "Parameters, billions", "size", "smallest", "{} B")
COSTS: Final = (
    PRICE,
    SIZE,
    ChoiceCost("active", "Active parameters, billions", "size", "smallest", "{} B active"),
    ChoiceCost("released", "Released", "date", "first", "{}", logarithmic=False),
    ChoiceCost(
        "solved", "Measured cost of a solved task, $", "measured cost", "cheapest", "${} / solved task"
    ),
)


def scored_models(candidates: Candidates, score: ChoiceScore) -> ScoredModels | None:
    """The models that have this score; None where none has.

    Where no interval is known, it is that of a share of the column's number of tasks.
    """
    if not candidates.models:
        return None
    if score.id == INDEX:
        values = np.array([model.index.value for model in candidates.models])
        intervals = tuple(Interval(model.index.low, model.index.high) for model in candidates.models)
        draws = candidates.index_draws[:: max(1, len(candidates.index_draws) // DRAWS)][:DRAWS]
        return ScoredModels(score, candidates.models, values, intervals, _stepped(draws))
    models = tuple(model for model in candidates.models if score.id in model.scores)
    if not models:
        return None
    tasks = next(column.tasks for column in COLUMNS if column.id == score.id)
    shares = [model.scores[score.id] for model in models]
    values = np.round(score.maximum * np.array([share for share, _ in shares]), 9)
    ends = [interval or share_interval(share * tasks, tasks) for share, interval in shares]
    intervals = tuple(Interval(score.maximum * end.low, score.maximum * end.high) for end in ends)
    draws = interval_draws(values.tolist(), intervals, score.maximum, score.id)
    return ScoredModels(score, models, values, intervals, _stepped(draws))


def _stepped(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(draws.min()), float(draws.max())
    return np.asarray(np.round((draws - low) / ((high - low) or 1.0) * STEPS))


def select(models: ScoredModels, rows: Sequence[int]) -> ScoredModels:
    """The models of these rows, with the same draws."""
    places = list(rows)
    return ScoredModels(
        models.score,
        tuple(models.models[row] for row in places),
        models.values[places],
        tuple(models.intervals[row] for row in places),
        models.draws[:, places],
    )
