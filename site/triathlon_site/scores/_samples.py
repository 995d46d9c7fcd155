"""What is scored together: files of one protocol without open units; and the seeds of tasks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.records import known_protocols
from triathlon_site.load import PARENTS, FileAggregate
from triathlon_site.uncertainty import Sample

OTHER_PROTOCOL: Final = "asked or graded under another protocol than those that are ranked"
UNITS_ARE_OPEN: Final = "not ranked while units are open"
_HUMANEVAL: Final = (
    *(0, 1, 3, 5, 6, 8, 9, 10, 12, 14, 18, 20, 25, 35, 36, 37, 39, 44, 46, 47, 49, 56),
    *(58, 59, 61, 64, 65, 67, 68, 69, 70, 72, 73, 74, 76, 78, 81, 82, 89, 94, 96, 98, 99, 101),
    *(103, 104, 105, 106, 107, 108, 109, 110, 111, 113, 114, 117, 119, 123, 124, 126, 127, 129, 130),
    *(131, 132, 133, 135, 137, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 153, 154, 155),
    *(156, 160, 161),
)
_CLASSEVAL: Final = (
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 18, 19, 21, 22, 23, 24, 27, 29, 30),
    *(31, 32, 33, 35, 37, 39, 40, 41, 42, 43, 44, 46, 47, 48, 49, 51, 53, 55, 56, 57, 59, 62),
    *(64, 65, 66, 67, 68, 70, 71, 73, 74, 75, 76, 78, 79, 80, 81, 82, 85, 88, 90, 91, 93, 94),
    *(95, 96, 97),
)
_SAME: Final = {
    f"DREval/{place}": name
    for place, name in enumerate(
        (*(f"HumanEval/{n}" for n in _HUMANEVAL), *(f"ClassEval_{n}" for n in _CLASSEVAL))
    )
}
"""Programs of DREval by the names that they have where they come from: the first 85 are problems of
HumanEval, the others classes of ClassEval, both in their order; found by their names."""


def of_ranking(suite: str, files: Mapping[str, FileAggregate]) -> dict[str, FileAggregate]:
    """Returns the files, by model, that share the suite's ranking.

    They are those of the protocol of most models; of several, the suite's own, else the first by name. What
    is missing of a file may be what its model failed: with open units it ranks nowhere.
    """
    counts = Counter(file.protocol for file in files.values() if file.units)
    own = known_protocols().get((suite, ""))
    protocol = max(sorted(counts, key=str), key=lambda each: (counts[each], each == own), default=None)
    return {
        model: file
        for model, file in files.items()
        if file.units and file.protocol == protocol and not file.open_units
    }


def sample_of(
    suite: str, metric: Metric, files: Mapping[str, FileAggregate], models: Sequence[str]
) -> Sample:
    """One metric of one suite: a row for each of `models`, zeros where it has no file."""
    results = {model: file.metrics[metric.id] for model, file in files.items()}
    clusters = tuple(sorted({cluster for parts in results.values() for cluster in parts.clusters}))
    place = {cluster: position for position, cluster in enumerate(clusters)}
    numerators, denominators = np.zeros((2, len(models), len(clusters)))
    for row, model in enumerate(models):
        if model in results:
            columns = [place[cluster] for cluster in results[model].clusters]
            numerators[row, columns] = results[model].numerators
            denominators[row, columns] = results[model].denominators
    seeds = seeds_of(clusters, files.values())
    return Sample(
        suite, tuple(models), clusters, numerators, denominators, metric.scale, metric.maximum, seeds
    )


def seeds_of(clusters: Sequence[str], files: Iterable[FileAggregate]) -> tuple[tuple[str, ...], ...]:
    """By cluster, its seeds: the parents that its records name, else the problem itself.

    Args:
        clusters: the names of tasks (in runtime of programs).
        files: of one suite; they are read until every cluster was met.
    """
    seeds: dict[str, tuple[str, ...]] = {}
    missing = set(clusters)
    for file in files:
        if missing and PARENTS in file.frame:
            seeds.update(zip(file.frame["task"], file.frame[PARENTS], strict=True))
            missing.difference_update(seeds)
    return tuple(seeds.get(name) or (_problem(name),) for name in clusters)


def _problem(name: str) -> str:
    """`Mbpp/2` of `MBXP/2`: the same problem in other languages."""
    if name.startswith("MBXP/"):
        return f"Mbpp/{name.removeprefix('MBXP/')}"
    return _SAME.get(name, name)


def contributions(files: Mapping[str, FileAggregate], metric: str) -> dict[str, list[Contribution]]:
    """By model, what each of its tasks adds to a metric: the input of the runner's comparisons."""
    by_model = {model: file.metrics[metric] for model, file in files.items()}
    return {
        model: list(map(Contribution, parts.clusters, parts.numerators.tolist(), parts.denominators.tolist()))
        for model, parts in by_model.items()
    }


def total(file: FileAggregate, metric: str) -> Contribution:
    """What all of a model's tasks together add to a metric."""
    parts = file.metrics[metric]
    return Contribution("", sum(parts.numerators), sum(parts.denominators))
