"""What repeats and more tasks would do to a score, from models that were asked several times."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress

from triathlon_runner.errors import UserError
from triathlon_runner.metrics import Metric
from triathlon_runner.noise import NoiseBudget, median_budget, noise_budget
from triathlon_runner.records import Manifest, UnitRecord
from triathlon_runner.store import ResultsFolder, read_records, recorded_files
from triathlon_runner.suites import SuiteEntry


def noise_sentence(
    entry: SuiteEntry, tasks: int, folder: ResultsFolder, manifests: Sequence[Manifest]
) -> str:
    """What three repeats, and what more tasks, would make of the interval of the suite's headline score.

    Empty where no model has several samples a task of this suite, or its score is no mean over units.
    """
    metric = next((metric for metric in entry.metrics if metric.headline), None)
    if metric is None:
        return ""
    repeated = _repeated(entry, folder, manifests)
    budgets = [budget for records in repeated if (budget := _budget(metric, records)) is not None]
    if not budgets:
        return ""
    models = "1 model" if len(budgets) == 1 else f"{len(budgets)} models"
    sentence = median_budget(budgets).sentence(maximum=metric.maximum, tasks=tasks)
    return f"{sentence} (from {models} with repeats)"


def _repeated(
    entry: SuiteEntry, folder: ResultsFolder, manifests: Sequence[Manifest]
) -> Iterator[Sequence[UnitRecord]]:
    """The records of every model with more units than tasks; the build names files that cannot be read."""
    for manifest in manifests:
        if manifest.suite == entry.id and _has_repeats(manifest):
            with suppress(UserError):
                records = list(read_records(folder.lines(manifest.model, entry.id), entry.record))
                yield [record for record in records if record.protocol == manifest.protocol]
    for file in recorded_files(folder.root):
        if file.suite == entry.id:
            with suppress(UserError):
                if _has_repeats(file.read_manifest()):
                    yield file.read()


def _has_repeats(manifest: Manifest) -> bool:
    units = sum(manifest.outcomes.values()) + manifest.open_units
    return units > manifest.tasks_planned and not manifest.has_copies


def _budget(metric: Metric, records: Sequence[UnitRecord]) -> NoiseBudget | None:
    """None where a unit has no score of its own: F1 is a ratio of sums."""
    tasks: dict[str, list[float]] = defaultdict(list)
    for record in records:
        tasks[record.task_id].append(metric.score([record]))
    if not tasks:
        return None
    mean = sum(sum(scores) / len(scores) for scores in tasks.values()) / len(tasks)
    return noise_budget(list(tasks.values())) if math.isclose(mean, metric.score(records)) else None
