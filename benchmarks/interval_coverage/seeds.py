"""Sets of tasks that were made from common seed problems."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from benchmarks.interval_coverage.experiment import Array


@dataclass(frozen=True)
class Family:
    """Sets of tasks made from common seeds: by set, the seeds of each task."""

    name: str
    sets: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def seeds(self) -> int:
        return 1 + max(seed for tasks in self.sets for seeds in tasks for seed in seeds)

    def latent(self, random: np.random.Generator, rows: int, common: float) -> list[Array]:
        """By set, standard normal ease of each task; `common`: correlation of two tasks of one seed."""
        seeds = random.standard_normal((rows, self.seeds))
        ease = []
        for tasks in self.sets:
            shared = np.stack([seeds[:, list(seed)].sum(axis=1) / len(seed) ** 0.5 for seed in tasks], axis=1)
            ease.append(common**0.5 * shared + (1 - common) ** 0.5 * random.standard_normal(shared.shape))
        return ease

    def names(self) -> list[tuple[tuple[str, ...], ...]]:
        return [tuple(tuple(f"seed {seed}" for seed in seeds) for seeds in tasks) for tasks in self.sets]


def families() -> Iterator[Family]:
    """As our own problems and EvoEval's have them: the seeds, four sets of one parent, one of two."""
    random = np.random.default_rng(4)
    for name, seeds, tasks in (("own problems", 80, 40), ("EvoEval", 164, 100)):
        single = [
            tuple((int(s),) for s in sorted(random.choice(seeds, tasks, replace=False))) for _ in range(4)
        ]
        double = tuple(tuple(map(int, random.choice(seeds, 2, replace=False))) for _ in range(tasks))
        yield Family(name, (tuple((seed,) for seed in range(seeds)), *single, double))
