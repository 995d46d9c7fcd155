"""The papers' tables beside our own results under the papers' protocol, cell by cell."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.metrics import Metric
from triathlon_runner.records import known_protocols
from triathlon_site import analysis
from triathlon_site.load import FileAggregate, Results
from triathlon_site.published import Published, PublishedColumn, PublishedRow, PublishedTable
from triathlon_site.ranking import UNITS_ARE_OPEN, Score
from triathlon_site.reproduction_plan import Paper, Place
from triathlon_site.scores import sample_of
from triathlon_site.uncertainty import (
    Difference,
    Interval,
    mean_scores,
    rounded,
    score_intervals,
    share_interval,
)

Array = NDArray[np.float64]
COT: Final = " (CoT)"
"""Behind the name of a model that a table has once more, asked with a chain of thought."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of the paper and ours; either may be missing, not both."""

    own: Score | None
    paper: Score | None

    @property
    def difference(self) -> Difference | None:
        """None while units of ours are open, too: what is missing may be what the model fails."""
        return self.own.minus(self.paper) if self.own and self.paper and not self.own.apart else None


@dataclass(frozen=True, slots=True)
class Row:
    """One model in one table."""

    model: str
    """Its id; empty for a mean over models that the paper prints."""
    cot: bool
    """Whether it was asked with a chain of thought."""
    published: PublishedRow | None
    """The paper's row; None where the paper does not have the model."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Reproduced:
    """One table of a paper."""

    title: str
    table: PublishedTable
    columns: tuple[PublishedColumn, ...]
    rows: tuple[Row, ...]

    @property
    def differences(self) -> list[Difference]:
        """Of all cells that both have."""
        return [cell.difference for row in self.rows for cell in row.cells if cell.difference]


def reproduced(
    paper: Paper,
    tables: Sequence[PublishedTable],
    published: Published,
    results: Results,
    names: Mapping[str, str],
) -> list[Reproduced]:
    """Returns each table of a paper that we have a figure for.

    Only results count that were asked and graded here, as the suites do it today. A model is the paper's
    where the names are equal but for case, spaces and hyphens; `names` has those of our models by id.
    """
    files = {suite: measured_files(results, suite) for suite in paper.suites}
    by_id = {table.id: table for table in tables}
    found = []
    for name, title in paper.titles.items():
        if (table := by_id.get(name)) is None:
            continue
        places = [place for place in paper.places if place.table == name]
        wanted = {place.column for place in places}
        columns = {column.id: column for column in table.columns if column.id in wanted}
        rows = tuple(_rows(places, columns, table, published, files, names))
        if any(row.model for row in rows):
            found.append(Reproduced(title, table, tuple(columns.values()), rows))
    return found


def measured_files(results: Results, suite: str) -> dict[str, FileAggregate]:
    """Returns by model the files that were asked and graded here, under the suite's protocol of today."""
    protocol = known_protocols().get((suite, ""))
    of_suite = results.of_suite(suite)
    return {m: f for m, f in of_suite.items() if f.units and not f.receipt and f.protocol == protocol}


def _rows(
    places: Sequence[Place],
    columns: Mapping[str, PublishedColumn],
    table: PublishedTable,
    published: Published,
    files: Mapping[str, Mapping[str, FileAggregate]],
    names: Mapping[str, str],
) -> Iterator[Row]:
    """The paper's means over models first, then our models in the paper's order, the others last."""
    for row in table.rows:
        if row.record.get("kind") == "average":
            yield Row("", False, row, tuple(Cell(None, row.scores.get(name)) for name in columns))
    rows = []
    for where in dict.fromkeys(place.where for place in places):
        own = {p.column: _own(p, columns[p.column], files) for p in places if p.where == where}
        models = sorted({model for scores in own.values() for model in scores})
        for model in models:
            paper = paper_row(table, published, names.get(model, model), where)
            cells = (
                Cell(own.get(name, {}).get(model), paper.scores.get(name) if paper else None)
                for name in columns
            )
            rows.append(Row(model, where[1] == "cot", paper, tuple(cells)))
    place_of = {id(row): place for place, row in enumerate(table.rows)}
    yield from sorted(rows, key=lambda row: place_of.get(id(row.published), len(place_of)))


def paper_row(
    table: PublishedTable, published: Published, name: str, where: tuple[str, str]
) -> PublishedRow | None:
    """Returns the row of a model by its name or a reviewed alias; None unless exactly one is it.

    `where`: a column and what it holds in the rows that count; a table without the column counts whole.
    """
    called = {_key(name)}
    for alias in published.aliases:
        keys = {_key(text) for text in alias.values() if text}
        if _key(name) in keys:
            called |= keys
    field, value = where
    rows = [
        row
        for row in table.rows
        if row.record.get(field, value) == value and _key(row.name.removesuffix(COT)) in called
    ]
    return rows[0] if len(rows) == 1 else None


def _key(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


def _own(
    place: Place, column: PublishedColumn, files: Mapping[str, Mapping[str, FileAggregate]]
) -> dict[str, Score]:
    """Our scores by model, of those that have all parts."""
    models = sorted(set.intersection(*(set(files[suite]) for suite in place.suites)))
    if not models:
        return {}
    if place.composition:
        return _compositions(place.composition, files, models)
    metrics = {(entry.id, metric.id): metric for entry in BUILT_IN.entries() for metric in entry.metrics}
    parts = [(suite, metrics[suite, metric]) for suite, metric in place.parts]
    upper = [(suite, metrics[suite, metric.upper]) for suite, metric in parts if metric.upper]
    times = 1.0 if np.isinf(column.maximum) else column.maximum / parts[0][1].maximum
    low, low_spans, tasks = _scores(parts, files, models, times)
    high, high_spans, _ = _scores(upper, files, models, times) if upper else (low, low_spans, tasks)
    whole = sum(_whole(files[suite][models[0]]) for suite in dict.fromkeys(place.suites))
    spans = (Interval(a.low, b.high) for a, b in zip(low_spans, high_spans, strict=True))
    numbers = zip(models, low.tolist(), high.tolist(), spans, tasks.tolist(), strict=True)
    return {
        model: Score(least, span, count, upper=most, whole=whole, apart=_apart(place.suites, files, model))
        for model, least, most, span, count in numbers
        if not math.isnan(least)
    }


def _scores(
    parts: Sequence[tuple[str, Metric]],
    files: Mapping[str, Mapping[str, FileAggregate]],
    models: Sequence[str],
    times: float,
) -> tuple[Array, list[Interval], NDArray[np.int64]]:
    """The mean score over some parts, its interval, and the tasks behind it, by model."""
    samples = [
        sample_of(suite, metric, {m: files[suite][m] for m in models}, models) for suite, metric in parts
    ]
    values = rounded(times * mean_scores(samples))
    spans = [Interval(times * span.low, times * span.high) for span in score_intervals(samples)]
    tasks = np.sum([[files[suite][m].tasks_answered for m in models] for suite, _ in parts], axis=0)
    return values, spans, tasks


def _apart(suites: Sequence[str], files: Mapping[str, Mapping[str, FileAggregate]], model: str) -> str:
    """Why a score of these suites is not compared; empty where it is."""
    return UNITS_ARE_OPEN if any(files[suite][model].open_units for suite in suites) else ""


def _whole(file: FileAggregate) -> int:
    return file.manifest.tasks_in_suite if file.manifest else file.tasks_answered


def _compositions(
    what: str, files: Mapping[str, Mapping[str, FileAggregate]], models: Sequence[str]
) -> dict[str, Score]:
    """EvoEval's table 2: how often a combined problem is solved, by how many of its two parents are."""
    suites = ("evolved/humaneval", "evolved/combine")
    entries = {entry.id: entry for entry in BUILT_IN.entries()}
    units = {model: {suite: files[suite][model].tasks for suite in suites} for model in models}
    counts = analysis.Measured([entries[suite] for suite in suites], units, {}).compositions
    is_share = what == "composition"
    place = analysis.HOW_MANY.index("both" if is_share else what.removeprefix("solved_"))
    only_solved = is_share or what.startswith("solved_")
    scores = {}
    for model, found in counts.get("combine", {}).items():
        of = [
            (missing == place and (solved or not only_solved), parts)
            for solved, missing, parts in found.problems
            if missing == place or not is_share
        ]
        if of:
            # The paper counts problems, of 100: a count is a share in per cent.
            of.sort(key=lambda one: not one[0])
            counted = sum(is_one for is_one, _ in of)
            span = share_interval(counted, len(of), [parts for _, parts in of])
            ends, whole = Interval(100 * span.low, 100 * span.high), _whole(files["evolved/combine"][model])
            score, apart = 100 * counted / len(of), _apart(suites, files, model)
            scores[model] = Score(score, ends, len(found.problems), whole=whole, apart=apart)
    return scores
