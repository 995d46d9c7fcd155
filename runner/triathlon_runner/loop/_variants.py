"""The effect of variants on measured scores (EVALOOOP, RQ1 and RQ3), on the tasks that both sides have.

Functions here take the results of a metric's `contributions`, not records, so that many files can be read.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from triathlon_runner.loop._sensitivity import Sensitivity, sensitivity
from triathlon_runner.metrics import Contribution
from triathlon_runner.significance import sign_test

ByModel = Mapping[str, Sequence[Contribution]]
"""One metric of one suite: what the tasks of each model contribute."""

COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    "prompts": ("asl_low", "asl_high"),
    "temperatures": ("asl_low", "asl_high"),
    "attacks": ("pass_at_1",),
}
"""The ids of the metrics in which variants of a kind are compared with their baseline."""


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


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of one variant on one model, on the tasks that it has on both sides."""

    model: str
    variant: str
    pairs: dict[str, tuple[float, float]]
    """Score of each task before and after, the mean over its samples."""

    @property
    def tasks(self) -> int:
        return len(self.pairs)

    @property
    def before(self) -> float:
        return fmean(before for before, _ in self.pairs.values())

    @property
    def after(self) -> float:
        return fmean(after for _, after in self.pairs.values())

    @property
    def difference(self) -> float:
        """After minus before: a loss is negative."""
        return self.after - self.before

    @property
    def lost(self) -> int:
        """Tasks that are worse after it."""
        return sum(after < before for before, after in self.pairs.values())

    @property
    def gained(self) -> int:
        """Tasks that are better after it."""
        return sum(after > before for before, after in self.pairs.values())

    @property
    def p_value(self) -> float:
        """Of the exact sign test (of McNemar's, where a task is solved or not); 1 where no task differs."""
        return sign_test(self.lost, self.gained)


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
    table = {name: {model: _by_task(by_model[model]) for model in models} for name, by_model in run.items()}
    base = {model: _by_task(baseline[model]) for model in models}
    scored = [scores for by_model in (base, *table.values()) for scores in by_model.values()]
    shared = set(scored[0]).intersection(*scored[1:]) if scored else set()
    before = _scores(base, shared)
    after = {name: _scores(by_model, shared) for name, by_model in table.items()}
    left_out = {model: names for model, names in lacking.items() if names}
    return Comparison(sensitivity(before, after), before, after, len(shared), left_out)


def changes_of(variant: str, baseline: ByModel, varied: ByModel) -> tuple[Change, ...]:
    """Each model's change under one variant (an attack: EVALOOOP, table 1), in the order of the baseline.

    A model without a task on both sides has none.
    """
    changes = []
    for model, contributions in baseline.items():
        after = _by_task(varied.get(model, ()))
        pairs = {
            task: (before, after[task]) for task, before in _by_task(contributions).items() if task in after
        }
        if pairs:
            changes.append(Change(model, variant, pairs))
    return tuple(changes)


def _by_task(contributions: Iterable[Contribution]) -> dict[str, float]:
    """The mean over each task's samples."""
    sums: dict[str, list[float]] = {}
    for part in contributions:
        total = sums.setdefault(part.cluster, [0.0, 0.0])
        total[0] += part.numerator
        total[1] += part.denominator
    return {task: numerator / count for task, (numerator, count) in sums.items() if count}


def _scores(by_model: Mapping[str, Mapping[str, float]], tasks: Collection[str]) -> dict[str, float]:
    if not tasks:
        return {}
    return {model: fmean(by_task[task] for task in tasks) for model, by_task in by_model.items()}
