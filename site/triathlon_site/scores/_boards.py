"""Which boards and columns there are, and which files and seeds of tasks are scored together."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

import numpy as np

from triathlon_runner import catalogue as runner_catalogue
from triathlon_runner.metrics import Metric, Role
from triathlon_runner.records import known_protocols
from triathlon_runner.suites import DisciplineEntry, SuiteEntry
from triathlon_site import packaged_table
from triathlon_site.load import FileAggregate
from triathlon_site.uncertainty import Sample

Family = Literal["core", "official", "added"]
"""`added`: the data sets of a suites.yaml."""
FAMILIES: Final[tuple[Family, ...]] = get_args(Family)
FIELD_NAMES: Final = {
    "core": "own problems",
    "official": "official sets",
    "mbpp-plus": "MBPP+",
    "humaneval": "HumanEval",
    "humaneval-plus": "HumanEval+",
    "humaneval-pro": "HumanEval Pro",
    "mbpp-pro": "MBPP Pro",
    "mbxp": "MBXP",
    "dreval": "DREval",
    "classeval": "ClassEval",
    "cruxeval": "CRUXEval",
    "cruxeval-output": "CRUXEval, output",
    "cruxeval-input": "CRUXEval, input",
}
"""Data as its field writes it; a user's own data keeps its name."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a board: a metric of one suite, or its mean over several."""

    id: str
    title: str
    source: str
    parts: tuple[tuple[str, Metric], ...]
    """(suite id, metric); the score is the plain mean over the parts."""
    role: Role = "column"
    upper: tuple[tuple[str, Metric], ...] = ()
    """Where a score is only known to lie in a range: the parts of its upper end; `parts` is the lower."""

    @property
    def maximum(self) -> float:
        return self.parts[0][1].maximum

    @property
    def suites(self) -> list[str]:
        """Ids of the suites that the score is made of."""
        return [suite for suite, _ in self.parts]

    @property
    def headline(self) -> bool:
        return self.role == "headline"

    @property
    def ranked(self) -> bool:
        return self.role in {"headline", "baseline", "column"}


@dataclass(frozen=True, slots=True)
class BoardPlan:
    """The suites and columns of one board."""

    id: str
    title: str
    """Of the data: what distinguishes the board from the others of its discipline; a user's title that others
    have, too, is followed by the suite's id."""
    discipline: str
    family: Family
    suites: tuple[SuiteEntry, ...]
    columns: tuple[Column, ...]
    variants: tuple[SuiteEntry, ...] = ()
    """Suites that differ from this board's in one setting."""

    @property
    def page(self) -> str:
        """`loop.html` on our own problems; `loop-mbpp-plus.html` on official data."""
        return f"{self.discipline if self.family == 'core' else self.id}.html"

    @property
    def headline(self) -> Column:
        return next((column for column in self.columns if column.headline), self.columns[0])


def plan_boards(catalogue: Sequence[SuiteEntry]) -> tuple[BoardPlan, ...]:
    """One board a suite; the suites of a discipline with `one_board` share one for each family of data.

    A data set of suites.yaml has boards of its own, except where it names its seeds: then it is a column of
    their board. Disciplines that are a kind of another one come last.
    """
    boards: list[BoardPlan] = []
    by_id = {suite.id: suite for suite in catalogue}
    plain = [(suite, _root(suite, by_id)) for suite in catalogue if suite.variant_of is None]
    for discipline in sorted(runner_catalogue.DISCIPLINES, key=lambda entry: bool(entry.kind_of)):
        for family in FAMILIES:
            groups: dict[str, list[SuiteEntry]] = defaultdict(list)
            for suite, root in plain:
                if suite.discipline == discipline.name and family_of(root) == family:
                    shared = discipline.one_board and family != "added"
                    groups[family if shared else root.id].append(suite)
            boards += [_plan(tuple(group), family, catalogue, discipline) for group in groups.values()]
    titles = Counter((board.discipline, board.title) for board in boards)
    return tuple(
        replace(board, title=f"{board.title}, {board.suites[0].id}")
        if board.family == "added" and titles[board.discipline, board.title] > 1
        else board
        for board in boards
    )


def _root(suite: SuiteEntry, by_id: Mapping[str, SuiteEntry]) -> SuiteEntry:
    """The suite whose problems a user's own were evolved from, perhaps in several steps; else itself."""
    while suite.user_data is not None and suite.seeds is not None and suite.seeds in by_id:
        suite = by_id[suite.seeds]
    return suite


def family_of(suite: SuiteEntry) -> Family:
    """The family of data that a suite is on."""
    return "core" if suite.core else "official" if suite.user_data is None else "added"


def _plan(
    suites: tuple[SuiteEntry, ...],
    family: Family,
    catalogue: Sequence[SuiteEntry],
    discipline: DisciplineEntry,
) -> BoardPlan:
    first = suites[0]
    one_board = discipline.one_board and (family != "added" or len(suites) > 1)
    name = family if one_board and family != "added" else first.id.partition("/")[2]
    columns = _columns_of_sets(first.discipline, suites) if one_board else _columns(first)
    ids = {suite.id for suite in suites}
    return BoardPlan(
        id=f"{first.discipline}-{name}",
        title=first.user_data.title if first.user_data else FIELD_NAMES.get(name, name),
        discipline=first.discipline,
        family=family,
        suites=suites,
        columns=tuple(columns),
        variants=tuple(entry for entry in catalogue if entry.variant_of in ids),
    )


def _columns(suite: SuiteEntry) -> Iterator[Column]:
    """The metrics of a suite, the headline first; both ends of a range are one column."""
    by_id = {metric.id: metric for metric in suite.metrics}
    for metric in sorted(suite.metrics, key=lambda metric: not metric.headline):
        if metric.role in {"upper_end", "beside"}:
            continue
        yield Column(
            f"{suite.id}:{metric.id}",
            metric.column or metric.title,
            metric.source,
            ((suite.id, metric),),
            metric.role,
            ((suite.id, by_id[metric.upper]),) if metric.upper else (),
        )


def _columns_of_sets(discipline: str, suites: Sequence[SuiteEntry]) -> Iterator[Column]:
    """The average over the seeds and the changed sets first, then each set."""
    single = [(suite, metric) for suite in suites for metric in suite.metrics if metric.headline]
    averaged = tuple((s.id, metric) for s, metric in single if s.averaged)
    if averaged:
        source = "EvoEval, section 3: the mean over the seeds and five changed sets"
        yield Column(f"{discipline}:average", "Mean pass@1", source, averaged, "headline")
    elif suites[0].user_data is not None:
        source = "the mean over the seeds and all sets evolved from them"
        parts = tuple((suite.id, metric) for suite, metric in single)
        yield Column(f"{suites[0].id}:average", "Mean pass@1", source, parts, "headline")
    for suite, metric in single:
        yield Column(
            f"{suite.id}:{metric.id}",
            set_title(suite.set_name),
            f"{suite.title} ({metric.source})",
            ((suite.id, metric),),
            "baseline" if suite.seeds in (None, suite.id) else "column",
        )


def set_title(name: str) -> str:
    """`tool_use-main_only` → `tool use, main only`; `humaneval-plus` → `HumanEval+`."""
    return FIELD_NAMES.get(name) or name.replace("_", " ").replace("-main", ", main").replace("-", " ")


_SAME: Final = {row["program"]: row["problem"] for row in packaged_table("scores/dreval_programs.csv")}
"""Programs of DREval by the names that they have where they come from: the first 85 are problems of
HumanEval, the others classes of ClassEval, both in their order; found by their names."""


def of_ranking(suite: str, files: Mapping[str, FileAggregate]) -> dict[str, FileAggregate]:
    """Returns the files, by model, that share the suite's ranking.

    They are those of the protocol of most models; of several, the suite's own, else the first by name. Where
    suites.yaml names other problems than before, those that say that they are on the present ones go before
    all others. What is missing of a file may be what its model failed: with open units it ranks nowhere.
    """
    whole = {model: file for model, file in files.items() if file.units and not file.open_units}
    counts = Counter(file.protocol for file in files.values() if file.units)
    own = known_protocols().get((suite, ""))
    changed = any(file.outdated for file in whole.values())
    today = {f.protocol for f in whole.values() if not f.outdated and (f.manifest or not changed)}
    ranked = sorted({file.protocol for file in whole.values()}, key=str)
    protocol = max(ranked, key=lambda it: (it in today, counts[it], it == own), default=None)
    return {model: file for model, file in whole.items() if file.protocol == protocol}


def sample_of(
    suite: str, metric: Metric, files: Mapping[str, FileAggregate], models: Sequence[str]
) -> Sample:
    """One metric of one suite: a row for each of `models`, zeros where it has no file."""
    results = {model: file.metrics[metric.id] for model, file in files.items()}
    clusters = tuple(sorted({cluster for parts in results.values() for cluster in parts.clusters}))
    place = {cluster: position for position, cluster in enumerate(clusters)}
    numerators, denominators = np.zeros((2, len(models), len(clusters)))
    for row, model in enumerate(models):
        if (parts := results.get(model)) is not None:
            has_all = parts.clusters == clusters  # most models have, and in this order
            columns = slice(None) if has_all else [place[cluster] for cluster in parts.clusters]
            numerators[row, columns] = parts.numerators
            denominators[row, columns] = parts.denominators
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
        if missing and file.columns.parents:
            seeds.update(zip(file.columns.task, file.columns.parents, strict=True))
            missing.difference_update(seeds)
    return tuple(seeds.get(name) or (_problem(name),) for name in clusters)


def _problem(name: str) -> str:
    """`Mbpp/2` of `MBXP/2`: the same problem in other languages."""
    if name.startswith("MBXP/"):
        return f"Mbpp/{name.removeprefix('MBXP/')}"
    return _SAME.get(name, name)


def task_scores(files: Mapping[str, FileAggregate], metric: str) -> dict[str, dict[str, float]]:
    """By model and task, the mean of a metric over the task's samples, not scaled."""
    scores: dict[str, dict[str, float]] = {}
    for model, file in files.items():
        parts = file.metrics[metric]
        sums = zip(parts.clusters, parts.numerators.tolist(), parts.denominators.tolist(), strict=True)
        scores[model] = {
            task: numerator / denominator for task, numerator, denominator in sums if denominator
        }
    return scores
