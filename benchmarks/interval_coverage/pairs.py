"""Intervals of the difference of two models, on the same tasks or in the mean over six sets."""

from collections.abc import Iterator

import numpy as np
from benchmarks.interval_coverage.experiment import CHANCES, HELD, TASKS, Cell, blocks, sample_of
from benchmarks.interval_coverage.seeds import families
from scipy.special import ndtri

from triathlon_site.uncertainty import differences


def of_two_models(experiments: int) -> Iterator[Cell]:
    """Intervals of the difference of two models on the same tasks."""
    random = np.random.default_rng(7)
    for tasks in TASKS:
        for chance in CHANCES:
            for gap in (0.0, 0.5):
                for common in (0.0, 0.6):
                    truth, held = chance * gap, []
                    for pairs in blocks(experiments, 60):
                        ease = random.standard_normal((pairs, tasks))
                        rows = []
                        for p in (chance, chance * (1 - gap)):
                            noise = random.standard_normal((pairs, tasks))
                            rows.append(common**0.5 * ease + (1 - common) ** 0.5 * noise < ndtri(p))
                        spans = differences((sample_of(np.concatenate(rows)),))
                        place = np.arange(pairs), np.arange(pairs, 2 * pairs)
                        held.append(
                            (spans.low[place] <= truth + 1e-6) & (spans.low[place[::-1]] <= 1e-6 - truth)
                        )
                    setting = f"{tasks} tasks, {chance:.0%} against {chance * (1 - gap):.1%}, {common} common"
                    yield Cell(setting, float(np.concatenate(held).mean()), HELD)


def of_two_means(experiments: int) -> Iterator[Cell]:
    """Intervals of the difference of two models in the mean over six sets of the same seeds."""
    random = np.random.default_rng(8)
    for family in families():
        for chance in CHANCES:
            for common in (0.0, 0.4):
                held = []
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
                    held.append((spans.low[place] <= 0) & (spans.low[place[::-1]] <= 0))
                setting = f"{family.name}, {chance:.0%} solved, each model's own ease of a seed {common}"
                yield Cell(setting, float(np.concatenate(held).mean()), HELD)
