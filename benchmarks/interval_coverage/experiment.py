"""What one setting gives, and the invented tasks and scores that the simulations start from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty import Sample, score_intervals

Array = NDArray[np.float64]
TASKS: Final = (40, 80, 100, 164, 378)
CHANCES: Final = (0.05, 0.2, 0.5, 0.9)
ROWS: Final = 400
"""Experiments that are scored together, as models of one table."""


@dataclass(frozen=True)
class Cell:
    """One setting."""

    setting: str
    share: float
    wanted: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.wanted
        mark = "" if low <= self.share <= high else "  (outside)" if self.share < low else "  (wider)"
        return f"{self.setting}: {self.share:.3f}{mark}"


HELD: Final = (0.93, 0.97)
FALSE: Final = (0.0, 0.06)
Kind = Callable[[int], Iterator[Cell]]


def sample_of(
    values: NDArray[Any],
    *,
    suite: str = "some",
    maximum: float = 1.0,
    weights: NDArray[Any] | None = None,
    seeds: tuple[tuple[str, ...], ...] = (),
) -> Sample:
    """Rows of scores a task; with weights, of ratios of sums."""
    rows, tasks = values.shape
    return Sample(
        suite,
        tuple(map(str, range(rows))),
        tuple(f"{suite} {task}" for task in range(tasks)),
        values.astype(float),
        np.ones_like(values, dtype=float) if weights is None else weights.astype(float),
        maximum if weights is not None else 1.0,
        maximum,
        seeds,
    )


def held(samples: list[Sample], truth: float) -> NDArray[np.bool_]:
    """Whether each row's interval for the mean over the samples holds the truth."""
    below, above = missed(samples, truth)
    return ~(below | above)


def missed(samples: list[Sample], truth: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the truth lies below each row's interval for the mean over the samples, and whether above."""
    spans = score_intervals(samples)
    ends = ((span.low > truth + 1e-9, span.high < truth - 1e-9) for span in spans)
    below, above = np.array(list(ends)).T
    return below, above


def blocks(experiments: int, rows: int = ROWS) -> Iterator[int]:
    """Sizes that add up to all experiments."""
    for start in range(0, experiments, rows):
        yield min(rows, experiments - start)


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


def small_families() -> Iterator[Family]:
    """Of few seeds: with several tasks each, as many or not, and as pairs; in one set or two."""
    random = np.random.default_rng(16)
    for seeds in (5, 8, 12, 20, 40):
        single = tuple((seed,) for seed in range(seeds))
        uneven = tuple((seed,) for seed in range(seeds) for _ in range(random.integers(1, 10)))
        pairs = tuple(tuple(map(int, random.choice(seeds, 2, replace=False))) for _ in range(3 * seeds))
        yield Family(f"{seeds} seeds with 5 tasks each", (single * 5,))
        yield Family(f"{seeds} seeds with 1 to 9 tasks", (uneven,))
        yield Family(f"{3 * seeds} pairs of {seeds} seeds", (pairs,))
        yield Family(f"{seeds} seeds, and {3 * seeds} pairs of them", (single, pairs))
