"""Intervals of the scores of programs and loops drawn again from measured results."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks.interval_coverage.experiment import Cell, missed, sample_of

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.store import read_undamaged_records
from triathlon_site.load._aggregate import parts

RESULTS: Final = Path("results/runs")
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


def drawn_again(experiments: int) -> Iterator[Cell]:
    """One tail each: how often the truth lies outside the interval of measured programs drawn again."""
    random = np.random.default_rng(15)
    for entry in BUILT_IN.entries():
        for path in sorted(RESULTS.glob(f"*/{entry.id}.jsonl")):
            records = read_undamaged_records(path, entry.record, lambda _: "")[0]
            for metric in entry.metrics:
                if metric.id not in METRICS.get(entry.discipline, ()):
                    continue
                found = parts(metric, records)
                truth = found.score(metric)
                for size in SIZES:
                    rows = random.integers(0, len(found.clusters), (experiments, size))
                    numerators = metric.scale / metric.maximum * found.numerators[rows]
                    sample = sample_of(numerators, maximum=metric.maximum, weights=found.denominators[rows])
                    for side, misses in zip(("below", "above"), missed([sample], truth), strict=True):
                        setting = f"{path.parts[-3]} {metric.id} {truth:.2f}, {size} of {entry.id}, {side}"
                        yield Cell(setting, float(misses.mean()), ONE_TAIL)
