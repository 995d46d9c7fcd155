"""What variants and rankings say about each other (EVALOOOP, RQ1 to RQ3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Literal

Scores = Mapping[str, float]
"""A score by model; higher is better."""
Ties = Literal["shared", "by_asl"]
"""Equal pass@1: all get the smallest rank (ours everywhere), or the higher ASL goes first (the paper)."""


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


@dataclass(frozen=True, slots=True)
class Shifts:
    """How a ranking by ASL differs from one by pass@1 (EVALOOOP, section 4.2)."""

    by_model: dict[str, int]
    """Rank by pass@1 minus rank by ASL: positive rises."""
    reversed_pairs: float
    """Share of all pairs of models that the two scores order oppositely."""


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


def rank_shifts(pass_at_1: Scores, asl: Scores, ties: Ties = "shared") -> Shifts:
    """Compares two rankings of the same models.

    The paper's figures for 96 models (88 shifted, 6.9 ranks on average, 27.1 % by ten or more, from -29 to
    +12) come out with `by_asl`: its 28 models of equal pass@1 stand in the order of their ASL.
    """
    by_asl = ranks(asl)
    by_pass = ranks(pass_at_1)
    if ties == "by_asl":
        order = sorted(pass_at_1, key=lambda model: (-pass_at_1[model], -asl[model]))
        by_pass = {model: float(place) for place, model in enumerate(order, 1)}
    pairs = list(combinations(pass_at_1, 2))
    opposite = sum((pass_at_1[a] - pass_at_1[b]) * (asl[a] - asl[b]) < 0 for a, b in pairs)
    return Shifts(
        {model: round(by_pass[model] - by_asl[model]) for model in pass_at_1},
        opposite / len(pairs) if pairs else float("nan"),
    )
