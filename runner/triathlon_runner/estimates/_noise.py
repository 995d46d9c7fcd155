"""What repeats and more tasks would do to a score, from models that were asked several times."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from triathlon_runner.errors import UserError
from triathlon_runner.noise import median_budget, noise_budget
from triathlon_runner.records import Manifest, Outcome
from triathlon_runner.store import ResultsFolder, recorded_files


def noise_sentence(suite: str, tasks: int, folder: ResultsFolder, manifests: Sequence[Manifest]) -> str:
    """What three repeats, and what more tasks, would make of the interval of pass@1.

    Empty where no model has several samples a task of this suite.
    """
    budgets = [
        budget for units in _repeated(suite, folder, manifests) if (budget := noise_budget(_by_task(units)))
    ]
    if not budgets:
        return ""
    models = "1 model" if len(budgets) == 1 else f"{len(budgets)} models"
    return f"{median_budget(budgets).sentence(tasks=tasks)} (from {models} with repeats)"


def _repeated(
    suite: str, folder: ResultsFolder, manifests: Sequence[Manifest]
) -> Iterator[Iterable[tuple[str, str]]]:
    """Task and outcome of every unit, a model at a time: of those with more units than tasks."""
    for manifest in manifests:
        if manifest.suite == suite and _has_repeats(manifest):
            yield _units(folder, manifest)
    for file in recorded_files(folder.root):
        if file.suite == suite:
            try:
                if _has_repeats(file.read_manifest()):
                    yield [(unit.task_id, unit.outcome.value) for unit in file.read()]
            except UserError:
                continue  # the build names damaged files; an estimate does without them


def _has_repeats(manifest: Manifest) -> bool:
    return sum(manifest.outcomes.values()) > manifest.tasks_planned


def _units(folder: ResultsFolder, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Of one file; lines that cannot be read, or are of another protocol, say nothing here."""
    with folder.lines(manifest.model, manifest.suite).open("rb") as lines:
        for line in lines:
            try:
                unit = json.loads(line)
                if unit["protocol"] == manifest.protocol:
                    yield unit["task_id"], unit["outcome"]
            except (ValueError, KeyError, TypeError):
                continue


def _by_task(units: Iterable[tuple[str, str]]) -> list[list[float]]:
    tasks: dict[str, list[float]] = defaultdict(list)
    for task, outcome in units:
        tasks[task].append(float(outcome == Outcome.PASSED.value))
    return list(tasks.values())
