"""What one setting gives, and the invented scores that every simulation starts from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from triathlon_site.uncertainty import Sample, draw_ends, interval, pass_fail_intervals, rounded

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
    ends = [draw_ends(sample) for sample in samples]
    low, high = (np.mean(draws, axis=0) for draws in zip(*ends, strict=True))
    spans = interval((low, high), rounded(np.mean([sample.scores() for sample in samples], axis=0)))
    if len(samples) == 1:
        spans = [exact or span for exact, span in zip(pass_fail_intervals(samples[0]), spans, strict=True)]
    return np.array([span.low <= truth + 1e-9 and truth - 1e-9 <= span.high for span in spans])


def blocks(experiments: int, rows: int = ROWS) -> Iterator[int]:
    """Sizes that add up to all experiments."""
    for start in range(0, experiments, rows):
        yield min(rows, experiments - start)
