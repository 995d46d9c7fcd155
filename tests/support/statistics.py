"""Samples for the tests of ranking and uncertainty."""

from collections.abc import Mapping, Sequence

import numpy as np

from triathlon_site.uncertainty import Sample


def sample_of(
    results: Mapping[str, Sequence[float]],
    *,
    suite: str = "evolved/core-seeds",
    maximum: float = 1.0,
    seeds: tuple[tuple[str, ...], ...] = (),
) -> Sample:
    """One score a task and model; nan where a model has no result.

    Without seeds, each task of each suite is a problem of its own.
    """
    values = np.array(list(results.values()), dtype=float)
    known = ~np.isnan(values)
    clusters = tuple(f"{suite}/{index:03d}" for index in range(values.shape[1]))
    numerators = np.where(known, values, 0.0)
    return Sample(suite, tuple(results), clusters, numerators, known.astype(float), 1.0, maximum, seeds)
