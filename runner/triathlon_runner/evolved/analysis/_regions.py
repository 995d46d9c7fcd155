"""HumanEval+ against EvoEval: which models do much better on the old benchmark than on the new (figure 2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

FAR: Final = 1.5
"""Robust standard deviations below the line from which on a model counts as better on the old benchmark. The
paper draws its two regions by eye and gives no rule."""

Region = Literal["aligned", "better on the old"]


@dataclass(frozen=True, slots=True)
class Placed:
    """One model in the plane of the two benchmarks, in per cent."""

    old: float
    new: float
    expected: float
    """The new score at the model's old score on the line through all models."""
    distance: float
    """(new - expected) in robust standard deviations."""
    region: Region


def regions(old: Mapping[str, float], new: Mapping[str, float], far: float = FAR) -> dict[str, Placed]:
    """Every model that has both scores, with its place against the Theil-Sen line of all of them.

    Raises:
        ValueError: fewer than three models have both.
    """
    models = [model for model in old if model in new]
    if len(models) < 3:
        raise ValueError(f"expected at least 3 models with both scores, got {len(models)}")
    from scipy.stats import median_abs_deviation, theilslopes  # noqa: PLC0415  it takes most of a second

    x, y = [old[model] for model in models], [new[model] for model in models]
    slope = float(theilslopes(y, x).slope) if len(set(x)) > 1 else 0.0  # equal old scores have no slope
    intercept = median(new[model] - slope * old[model] for model in models)
    expected = {model: intercept + slope * old[model] for model in models}
    misses = {model: new[model] - expected[model] for model in models}
    deviation = float(median_abs_deviation(list(misses.values()), scale="normal"))
    placed = {}
    for model, miss in misses.items():
        distance = miss / deviation if deviation else 0.0
        region: Region = "better on the old" if distance < -far else "aligned"
        placed[model] = Placed(old[model], new[model], expected[model], distance, region)
    return placed
