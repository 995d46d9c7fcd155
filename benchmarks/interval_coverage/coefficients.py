"""Intervals of the correlation of two columns over the models."""

from collections.abc import Iterator

import numpy as np
from benchmarks.interval_coverage.experiment import HELD, Cell

from triathlon_site.agreement import correlate


def correlations(experiments: int) -> Iterator[Cell]:
    """Intervals of Spearman's and Kendall's coefficient over models from a bivariate normal distribution."""
    random = np.random.default_rng(14)
    for models in (5, 8, 12, 24, 60):
        for r in (0.0, 0.5, 0.9):
            rho, tau = 6 / np.pi * np.arcsin(r / 2), 2 / np.pi * np.arcsin(r)
            counts = np.zeros(2)
            for _ in range(experiments):
                x, noise = random.standard_normal((2, models))
                intervals = correlate(x, r * x + (1 - r * r) ** 0.5 * noise)
                counts += (
                    intervals.spearman_low <= rho <= intervals.spearman_high,
                    intervals.kendall_low <= tau <= intervals.kendall_high,
                )
            for name, count in zip(("Spearman", "Kendall"), counts, strict=True):
                yield Cell(f"{models} models, r = {r}, {name}", count / experiments, HELD)
