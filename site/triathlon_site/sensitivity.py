"""The effect of variants on scores (EVALOOOP, RQ1 and RQ3), where measured on the tasks that both sides have.

Functions here take the results of a metric's `contributions`, not records, so that many files can be read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import pandas as pd

from triathlon_runner.metrics import Contribution
from triathlon_site.ranking import smallest_ranks

ByModel = Mapping[str, Sequence[Contribution]]
"""One metric of one suite: what the tasks of each model contribute."""


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


def sensitivity(baseline: Mapping[str, float], variants: Mapping[str, Mapping[str, float]]) -> Sensitivity:
    """Compares the models that the baseline and every variant have.

    The paper gets 0.951 for the summary prompts (table 3) and 0.974 for the temperatures (table 4).
    """
    common = [model for model in baseline if all(model in scores for scores in variants.values())]
    columns = [_ranks(scores, common) for scores in variants.values()]
    base = _ranks(baseline, common)
    mean = {model: fmean(column[model] for column in columns) for model in common} if columns else {}
    enough = len(mean) > 2 and min(len(set(base.values())), len(set(mean.values()))) > 1
    # pandas' rank correlation: scipy.stats takes a second to import
    rho = pd.DataFrame([base, mean]).T.corr("spearman").to_numpy()[0, 1] if enough else float("nan")
    return Sensitivity(float(rho), base, mean)


def _ranks(scores: Mapping[str, float], models: Sequence[str]) -> dict[str, float]:
    places = smallest_ranks([scores[model] for model in models])
    return {model: float(place) for model, place in zip(models, places, strict=True) if place}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Models under the variants of one kind, scored on the tasks that all of them have everywhere."""

    sensitivity: Sensitivity
    baseline: dict[str, float]
    """Score by model."""
    variants: dict[str, dict[str, float]]
    """Score by variant and model."""
    tasks: int
    left_out: dict[str, tuple[str, ...]]
    """Models that were not run everywhere, with the variants that they lack."""


def compare(baseline: ByModel, variants: Mapping[str, ByModel]) -> Comparison:
    """Ranks of the baseline against mean ranks under the variants, as in EVALOOOP, tables 3 and 4.

    Models that lack a variant are left out, and variants that no model has run. The others are scored on the
    tasks that all of them have in the baseline and in every variant: over different tasks, ranks do not
    compare.
    """
    run = {name: by_model for name, by_model in variants.items() if any(by_model.values())}
    lacking = {
        model: tuple(name for name, by_model in run.items() if not by_model.get(model))
        for model, contributions in baseline.items()
        if contributions
    }
    models = [model for model, names in lacking.items() if not names]
    tables = [
        {model: _by_task(by_model[model]) for model in models} for by_model in (baseline, *run.values())
    ]
    tasks = [by_task.keys() for by_model in tables for by_task in by_model.values()]
    shared = set(tasks[0]).intersection(*tasks) if tasks else set()
    before, *after = (
        {model: fmean(by_task[task] for task in shared) for model, by_task in by_model.items() if shared}
        for by_model in tables
    )
    varied = dict(zip(run, after, strict=True))
    left_out = {model: names for model, names in lacking.items() if names}
    return Comparison(sensitivity(before, varied), before, varied, len(shared), left_out)


def scores_before_and_after(baseline: ByModel, varied: ByModel) -> dict[str, dict[str, tuple[float, float]]]:
    """By model and task, the score without and with a variant (an attack: EVALOOOP, table 1).

    Only of tasks on both sides, each with the mean over its samples; in the order of the baseline.
    """
    pairs_by_model = {}
    for model, contributions in baseline.items():
        before, after = _by_task(contributions), _by_task(varied.get(model, ()))
        if pairs := {task: (score, after[task]) for task, score in before.items() if task in after}:
            pairs_by_model[model] = pairs
    return pairs_by_model


def _by_task(contributions: Iterable[Contribution]) -> dict[str, float]:
    """The mean over each task's samples."""
    parts: dict[str, list[Contribution]] = defaultdict(list)
    for part in contributions:
        parts[part.cluster].append(part)
    counts = {task: sum(part.denominator for part in of_task) for task, of_task in parts.items()}
    return {task: sum(part.numerator for part in parts[task]) / n for task, n in counts.items() if n}
