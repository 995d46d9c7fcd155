"""How well a ranking holds under the variants of a suite (EVALOOOP, RQ1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

Scores = Mapping[str, float]
"""A score by model; higher is better."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How well a ranking holds under the variants of one kind."""

    spearman: float
    """Between the baseline's ranks and the mean ranks under the variants; nan for fewer than 3 models."""
    baseline_ranks: dict[str, float]
    mean_ranks: dict[str, float]

    @property
    def models(self) -> int:
        return len(self.baseline_ranks)


def ranks(scores: Scores) -> dict[str, float]:
    """1 for the highest; equal scores share the smallest rank."""
    from scipy.stats import rankdata  # noqa: PLC0415  it takes most of a second

    values = rankdata([-score for score in scores.values()], method="min")
    return dict(zip(scores, map(float, values), strict=True))


def sensitivity(baseline: Scores, variants: Mapping[str, Scores]) -> Sensitivity:
    """Compares the models that the baseline and every variant have.

    The paper gets 0.951 for the summary prompts (table 3) and 0.974 for the temperatures (table 4).
    """
    from scipy.stats import spearmanr  # noqa: PLC0415  it takes most of a second

    common = [model for model in baseline if all(model in scores for scores in variants.values())]
    columns = [ranks({model: scores[model] for model in common}) for scores in variants.values()]
    base = ranks({model: baseline[model] for model in common})
    mean = {model: fmean(column[model] for column in columns) for model in common} if columns else {}
    enough = len(mean) > 2 and min(len(set(base.values())), len(set(mean.values()))) > 1
    rho = spearmanr(list(base.values()), list(mean.values())).statistic if enough else float("nan")
    return Sensitivity(float(rho), base, mean)
