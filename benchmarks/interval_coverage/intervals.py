"""Intervals of one model's scores, of the difference of two models, and of correlations of columns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from scipy.special import ndtri

from benchmarks.interval_coverage.experiment import (
    CHANCES,
    HELD,
    TASKS,
    Array,
    Cell,
    blocks,
    families,
    held,
    missed,
    sample_of,
    small_families,
)
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.store import read_undamaged_records
from triathlon_site import agreement
from triathlon_site.load._aggregate import metric_values
from triathlon_site.uncertainty import differences, ratio_interval

PROGRAMS: Final = (40, 80, 154)
"""Of a runtime suite."""
RESULTS: Final = Path(__file__).parents[2] / "results" / "runs"
SIZES: Final = (20, 40, 80, 150, 400)
METRICS: Final = {
    "runtime": (
        "ic",
        "coverage_accuracy",
        "coverage_f1",
        "state_accuracy",
        "path_accuracy",
        "output_accuracy",
    ),
    "loop": ("asl_low",),
}
ONE_TAIL: Final = (0.015, 0.035)


def pass_at_1(experiments: int) -> Iterator[Cell]:
    """Intervals of pass@1: tasks that pass with one chance."""
    random = np.random.default_rng(1)
    for tasks in TASKS:
        for chance in CHANCES:
            holds = [
                held([sample_of(random.random((rows, tasks)) < chance)], chance)
                for rows in blocks(experiments)
            ]
            yield Cell(f"{tasks} tasks, {chance:.0%} solved", float(np.concatenate(holds).mean()), HELD)


def asl(experiments: int) -> Iterator[Cell]:
    """Intervals of ASL: a share of tasks passes at first, then every loop is survived with one chance."""
    random = np.random.default_rng(2)
    for tasks in TASKS:
        for chance in CHANCES:
            for survival in (0.6, 0.8, 0.95):
                exactly = chance * (1 - survival) * survival ** np.arange(10)
                exactly[9] = chance * survival**9
                truth = float(exactly @ np.arange(1, 11) ** 2 / 10)
                holds = []
                for rows in blocks(experiments):
                    loops = np.minimum(random.geometric(1 - survival, (rows, tasks)), 10)
                    solved = random.random((rows, tasks)) < chance
                    holds.append(held([sample_of(solved * loops**2 / 10, maximum=10.0)], truth))
                share = float(np.concatenate(holds).mean())
                yield Cell(f"{tasks} tasks, {chance:.0%} solved, {survival:.0%} survive a loop", share, HELD)


def consistency(experiments: int) -> Iterator[Cell]:
    """Intervals of IC: 3 to 15 chains a program, whose answers are right with a chance of the program's."""
    random = np.random.default_rng(3)
    for programs in PROGRAMS:
        for chance in CHANCES:
            many = _chain_scores(_ease(random, chance, (200_000, 1)), random)
            truth = 100 * float(many.mean())
            holds = []
            for rows in blocks(experiments):
                chains = random.integers(3, 16, (rows, programs))
                ease = np.repeat(_ease(random, chance, (rows, programs))[:, :, None], 15, axis=2)
                scores = _chain_scores(ease, random) * (np.arange(15) < chains[:, :, None])
                sample = sample_of(scores.sum(axis=2), maximum=100.0, weights=chains)
                holds.append(held([sample], truth))
            share = float(np.concatenate(holds).mean())
            yield Cell(f"{programs} programs, {chance:.0%} of answers right, IC {truth:.1f}", share, HELD)


def _ease(random: np.random.Generator, chance: float, shape: tuple[int, ...]) -> Array:
    return np.asarray(random.beta(4 * chance, 4 * (1 - chance), shape))


def _chain_scores(ease: Array, random: np.random.Generator) -> Array:
    right = np.cumprod(random.random((4, *ease.shape)) < ease, axis=0).sum(axis=0)
    return np.asarray(np.array([0, 0.125, 0.25, 0.5, 1])[right])


def mean_of_sets(experiments: int) -> Iterator[Cell]:
    """Intervals of the mean over six sets whose tasks come from the same seeds."""
    random = np.random.default_rng(5)
    for family in families():
        for chance in CHANCES:
            for common in (0.0, 0.2, 0.4, 0.7):
                holds, both = [], []
                for rows in blocks(experiments):
                    solved = [ease < ndtri(chance) for ease in family.latent(random, rows, common)]
                    samples = [
                        sample_of(results, suite=f"set {place}", seeds=names)
                        for place, (results, names) in enumerate(zip(solved, family.names(), strict=True))
                    ]
                    holds.append(held(samples, chance))
                    pairs = solved[0][:, [seeds[0] for seeds in family.sets[1]]], solved[1]
                    both.append(np.corrcoef(pairs[0].ravel(), pairs[1].ravel())[0, 1])
                share = float(np.concatenate(holds).mean())
                setting = f"{family.name}, {chance:.0%} solved, correlation {np.mean(both):.2f}"
                yield Cell(setting, share, HELD)


def drops(experiments: int) -> Iterator[Cell]:
    """Intervals of the relative drop from the seeds to one set, as shares of the seeds that still pass."""
    random = np.random.default_rng(6)
    for family in (*families(), *(small for small in small_families() if len(small.sets) == 2)):
        for place in sorted({1, len(family.sets) - 1}):
            for chance, after in ((0.9, 0.6), (0.5, 0.3), (0.2, 0.2), (0.2, 0.05)):
                holds = []
                for rows in blocks(experiments):
                    ease, names = family.latent(random, rows, 0.4), family.names()
                    seeds, changed = (
                        sample_of(ease[of] < ndtri(p), suite=f"set {of}", seeds=names[of])
                        for of, p in ((0, chance), (place, after))
                    )
                    some = np.flatnonzero(seeds.numerators.any(axis=1)).tolist()
                    spans = (ratio_interval(seeds.of_models([row]), changed.of_models([row])) for row in some)
                    holds += [span.low <= after / chance <= span.high for span in spans]
                setting = f"{family.name}, set {place}, from {chance:.0%} to {after:.0%}"
                yield Cell(setting, float(np.mean(holds)), HELD)


def of_two_models(experiments: int) -> Iterator[Cell]:
    """Intervals of the difference of two models on the same tasks."""
    random = np.random.default_rng(7)
    for tasks in TASKS:
        for chance in CHANCES:
            for gap in (0.0, 0.5):
                for common in (0.0, 0.6):
                    truth, holds = chance * gap, []
                    for pairs in blocks(experiments, 60):
                        ease = random.standard_normal((pairs, tasks))
                        rows = []
                        for p in (chance, chance * (1 - gap)):
                            noise = random.standard_normal((pairs, tasks))
                            rows.append(common**0.5 * ease + (1 - common) ** 0.5 * noise < ndtri(p))
                        spans = differences((sample_of(np.concatenate(rows)),))
                        place = np.arange(pairs), np.arange(pairs, 2 * pairs)
                        holds.append(
                            (spans.low[place] <= truth + 1e-6) & (spans.low[place[::-1]] <= 1e-6 - truth)
                        )
                    setting = f"{tasks} tasks, {chance:.0%} against {chance * (1 - gap):.1%}, {common} common"
                    yield Cell(setting, float(np.concatenate(holds).mean()), HELD)


def of_two_means(experiments: int) -> Iterator[Cell]:
    """Intervals of the difference of two models in the mean over six sets of the same seeds."""
    random = np.random.default_rng(8)
    for family in families():
        for chance in CHANCES:
            for common in (0.0, 0.4):
                holds = []
                for pairs in blocks(experiments, 60):
                    tasks = family.latent(random, pairs, 0.0)
                    noises = [family.latent(random, pairs, common) for _ in range(2)]
                    samples = tuple(
                        sample_of(
                            np.concatenate(
                                [
                                    (0.6**0.5 * ease + 0.4**0.5 * noise[place]) < ndtri(chance)
                                    for noise in noises
                                ]
                            ),
                            suite=f"set {place}",
                            seeds=names,
                        )
                        for place, (ease, names) in enumerate(zip(tasks, family.names(), strict=True))
                    )
                    spans = differences(samples)
                    place = np.arange(pairs), np.arange(pairs, 2 * pairs)
                    holds.append((spans.low[place] <= 0) & (spans.low[place[::-1]] <= 0))
                setting = f"{family.name}, {chance:.0%} solved, each model's own ease of a seed {common}"
                yield Cell(setting, float(np.concatenate(holds).mean()), HELD)


def few_seeds(experiments: int) -> Iterator[Cell]:
    """Intervals of scores, and of the difference of two equal models, on sets made from few seeds."""
    random = np.random.default_rng(16)
    for family in small_families():
        for chance in CHANCES:
            for common in (0.3, 0.7):
                holds, told = [], []
                for rows in blocks(experiments, 120):
                    ease = family.latent(random, rows, common)
                    samples = tuple(
                        sample_of(results < ndtri(chance), suite=f"set {place}", seeds=names)
                        for place, (results, names) in enumerate(zip(ease, family.names(), strict=True))
                    )
                    holds.append(held(list(samples), chance))
                    spans = differences(samples)
                    place = np.arange(0, rows - 1, 2), np.arange(1, rows, 2)
                    told.append((spans.low[place] <= 0) & (spans.low[place[::-1]] <= 0))
                setting = f"{family.name}, {chance:.0%} solved, common {common}"
                yield Cell(setting, float(np.concatenate(holds).mean()), HELD)
                yield Cell(f"{setting}, difference", float(np.concatenate(told).mean()), HELD)


def correlations(experiments: int) -> Iterator[Cell]:
    """Intervals of Spearman's and Kendall's coefficient over models from a bivariate normal distribution."""
    random = np.random.default_rng(14)
    for models in (5, 8, 12, 24, 60):
        for r in (0.0, 0.5, 0.9):
            rho, tau = 6 / np.pi * np.arcsin(r / 2), 2 / np.pi * np.arcsin(r)
            counts = np.zeros(2)
            for _ in range(experiments):
                x, noise = random.standard_normal((2, models))
                intervals = agreement.correlations([x, r * x + (1 - r * r) ** 0.5 * noise])[0, 1]
                counts += (
                    intervals.spearman_low <= rho <= intervals.spearman_high,
                    intervals.kendall_low <= tau <= intervals.kendall_high,
                )
            for name, count in zip(("Spearman", "Kendall"), counts, strict=True):
                yield Cell(f"{models} models, r = {r}, {name}", count / experiments, HELD)


def drawn_again(experiments: int) -> Iterator[Cell]:
    """One tail each: how often the truth lies outside the interval of measured programs drawn again."""
    random = np.random.default_rng(15)
    for entry in BUILT_IN.entries():
        for path in sorted(RESULTS.glob(f"*/{entry.id}.jsonl")):
            records = read_undamaged_records(path, entry.record, lambda _: "")[0]
            for metric in entry.metrics:
                if metric.id not in METRICS.get(entry.discipline, ()):
                    continue
                found = metric_values([metric], records)[1][metric.id]
                truth = found.score(metric)
                for size in SIZES:
                    rows = random.integers(0, len(found.clusters), (experiments, size))
                    numerators = metric.scale / metric.maximum * found.numerators[rows]
                    sample = sample_of(numerators, maximum=metric.maximum, weights=found.denominators[rows])
                    for side, misses in zip(("below", "above"), missed([sample], truth), strict=True):
                        setting = f"{path.parts[-3]} {metric.id} {truth:.2f}, {size} of {entry.id}, {side}"
                        yield Cell(setting, float(misses.mean()), ONE_TAIL)
