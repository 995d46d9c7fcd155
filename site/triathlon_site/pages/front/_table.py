"""Every model of any source once, with its scores and its place in the index."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from triathlon_runner.records import RECORDED
from triathlon_site.models import ModelInfo
from triathlon_site.overall_index import Index, IndexRow, compute_index, years
from triathlon_site.pages._cells import receipt_path
from triathlon_site.pages._reported import ShownScore
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import FrontColumn
from triathlon_site.pages.front._columns import BESIDE, FRONT, SHOWN
from triathlon_site.published import JoinedModel
from triathlon_site.scores import UNITS_ARE_OPEN, ColumnScores


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model."""

    name: str
    """With its source where two rows have the name, because it is not certain that they are one model."""
    info: ModelInfo
    page: str
    """Its page, from the site's root; empty where nothing was measured or recorded."""
    cells: dict[str, ShownScore]
    """By id of a column."""
    date: str
    """Day or month of its newest result or figure; empty where it is not known."""
    index: IndexRow | None = None
    """None for a model without a cell in a column of the index."""
    open_units: int = 0
    """Planned units that have no result: the columns that lack them have no score here."""

    @property
    def has(self) -> list[str]:
        """The columns, and disciplines, that it has a cell in, as the table heads them."""
        return list(dict.fromkeys(column.title.lower() for column in SHOWN if column.id in self.cells))

    @property
    def grades(self) -> list[str]:
        """Grades of its cells, each once."""
        return list(dict.fromkeys(cell.grade for cell in self.cells.values()))


@dataclass(frozen=True, slots=True)
class AllModels:
    """The table of all models."""

    rows: tuple[ModelRow, ...]
    """In the order of the index; models without a cell in its columns last, by name."""
    index: Index | None
    """Of the rows that have a cell, in their order; None where no row has one."""


def all_models(site: Gathered) -> AllModels:
    """The table of all models."""
    rows = model_rows(site)
    counted = {column.id for column in FRONT}
    ranked, index = _ranked([row for row in rows if counted & row.cells.keys()])
    others = [row for row in rows if not counted & row.cells.keys()]
    others.sort(key=lambda row: (not row.cells, row.name.lower()))
    return AllModels((*ranked, *others), index)


def model_rows(site: Gathered, columns: Sequence[FrontColumn] = (*FRONT, *BESIDE)) -> list[ModelRow]:
    """Every model with its cells in these columns, in no order and without an index."""
    rows = list(_rows(site, columns))
    counts = Counter(row.name for row, _ in rows)
    return [
        replace(row, name=f"{row.name} ({source})") if counts[row.name] > 1 else row for row, source in rows
    ]


def _rows(site: Gathered, columns: Sequence[FrontColumn]) -> Iterator[tuple[ModelRow, str]]:
    """Each model with its source, which distinguishes it from another model of the same name."""
    tables = site.reported
    scored = [scores for column in columns if (scores := _scores(site, column))]
    suites = {suite for scores in scored for suite in scores.column.suites}
    ids: dict[int | str, list[str]] = defaultdict(list)
    """Models with results, by the published model that they are, else by name or id."""
    for model in site.results.models:
        name = site.published_names.get(model) or f"id {model}"
        ids[id(site.same[model]) if model in site.same else name].append(model)
    for joined in tables.models:
        own = ids.pop(id(joined), [])
        row = _row(site, own, tables.facts_of(joined), joined, columns, suites)
        if own or row.cells:
            yield row, tables.boards[next(iter(joined.rows))].title
    for key, own in ids.items():
        info = tables.facts.get(str(key)) or site.models[own[0]]
        row = _row(site, own, info, None, columns, suites)
        yield row, "recorded" if row.grades == [RECORDED] else "measured here"


def _row(
    site: Gathered,
    ids: Sequence[str],
    info: ModelInfo,
    joined: JoinedModel | None,
    columns: Sequence[FrontColumn],
    suites: Collection[str],
) -> ModelRow:
    """The model's scores, and reported figures in the columns where it has none.

    `suites`: those that the columns are of, whose open units are counted.
    """
    cells = {}
    for column in columns:
        reported = site.reported.figure(joined, column.reported) if joined else None
        score = next((cell for model in ids if (cell := _score(site, column, model))), None)
        if cell := replace(score, replaced=reported) if score else reported:
            cells[column.id] = cell
    if ids:
        card = site.models[ids[0]]
        open_fields: dict[str, Any] = {
            field.name: getattr(info, field.name)
            for field in fields(card)
            if getattr(card, field.name) is None
        }
        info = replace(card, **open_fields)
    dates = [*(cell.date for cell in cells.values()), *(site.newest(model) for model in ids)]
    opened = sum(file.open_units for model in ids for file in site.files[model] if file.suite in suites)
    return ModelRow(
        info.name, info, info.page if ids else "", cells, max(dates, default=""), open_units=opened
    )


def _scores(site: Gathered, column: FrontColumn) -> ColumnScores | None:
    """The column of the board that has its measured and recorded scores."""
    board = site.board(column.board)
    return next((c for c in board.columns if c.column.id == column.column), None) if board else None


def _score(site: Gathered, column: FrontColumn, model: str) -> ShownScore | None:
    """The measured or recorded score of one model; None where it has none, or has one with open units."""
    board, scores = site.board(column.board), _scores(site, column)
    score = scores.shown(model) if scores else None
    if board is None or scores is None or score is None or score.apart == UNITS_ARE_OPEN:
        return None
    date = site.newest(model, {suite for suite, _ in scores.column.parts})
    part = board.part_run(model) if scores is board.headline else ""
    regraded = "graded again here" if score.judged_again else ""
    return ShownScore(
        score.value,
        scores.column.maximum,
        score.interval,
        score.grade,
        receipt_path(scores, model),
        date,
        ", ".join(filter(None, (score.grade, regraded, score.apart, date, part and f"on {part} tasks"))),
        tier=score.tier,
        upper=score.upper,
        tasks=min(column.tasks, _independent_tasks(scores, model)),
        judged_again=score.judged_again,
        rank=score.rank,
    )


def _independent_tasks(column: ColumnScores, model: str) -> int:
    """Seeds of the tasks that the model's score rests on: problems made from one seed count once."""
    seeds: set[str] = set()
    for sample in column.samples:
        for place in np.flatnonzero(sample.denominators[sample.models.index(model)]):
            seeds.update(sample.origins[place])
    return len(seeds) or column.apart[model].tasks


def _ranked(rows: Sequence[ModelRow]) -> tuple[list[ModelRow], Index | None]:
    """The rows in the order of the index, and the index in the same order."""
    if not rows:
        return [], None
    cells = [[row.cells.get(column.id) for column in FRONT] for row in rows]
    shares = np.array([[cell.share if cell else np.nan for cell in row] for row in cells])
    counts = np.array([[cell.tasks if cell else np.nan for cell in row] for row in cells])
    tasks = np.where(np.isnan(counts), [column.tasks for column in FRONT], counts)
    released = np.array([_released(row.info.released or "") for row in rows])
    index = compute_index(shares, tasks, released)
    places = [(place.rank.rank, row.name.lower()) for place, row in zip(index.rows, rows, strict=True)]
    order = sorted(range(len(rows)), key=places.__getitem__)
    ordered = replace(index, rows=tuple(index.rows[place] for place in order), draws=index.draws[:, order])
    return [replace(rows[place], index=index.rows[place]) for place in order], ordered


def _released(day: str) -> float:
    """The date in years; the middle of a year without a month, nan for an empty text."""
    return int(day) + 0.5 if len(day) == 4 else years(day[:7])
