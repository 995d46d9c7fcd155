"""Every model of any source once, with its cells and its place in the index."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from triathlon_runner.records import RECORDED
from triathlon_site.ability import Index, IndexRow, compute_index, years
from triathlon_site.models import ModelInfo, reported_info
from triathlon_site.pages._reported import ReportedTables, same_model
from triathlon_site.pages.front._cells import FrontCell, ScoreCells, reported_cell
from triathlon_site.pages.front._columns import FRONT, SHOWN, FrontColumn
from triathlon_site.published import JoinedModel, ModelFacts
from triathlon_site.ranking import percentiles


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model."""

    name: str
    """With its source where two rows have the name, because it is not certain that they are one model."""
    info: ModelInfo
    page: str
    """Its page, from the site's root; empty where nothing was measured or recorded."""
    facts: ModelFacts
    cells: Mapping[str, FrontCell]
    """By id of a column."""
    date: str
    """Day or month of its newest result or figure; empty where it is not known."""
    index: IndexRow | None = None
    """None for a model without a cell."""
    percentiles: tuple[float | None, ...] = ()
    """Mean over the columns of each discipline that it has, in the order of `DISCIPLINES`."""

    @property
    def has(self) -> list[str]:
        """The disciplines that it has a cell in."""
        return list(dict.fromkeys(column.discipline for column in SHOWN if column.id in self.cells))

    @property
    def grades(self) -> list[str]:
        """Grades of its cells, each once."""
        return list(dict.fromkeys(cell.grade for cell in self.cells.values()))


@dataclass(frozen=True, slots=True)
class AllModels:
    """The table of all models."""

    rows: tuple[ModelRow, ...]
    """In the order of the index; models without a cell last, by name."""
    index: Index | None
    """Of the rows that have a cell, in their order; None where no row has one."""


DISCIPLINES: Final = tuple(dict.fromkeys(column.discipline for column in SHOWN))


def all_models(
    tables: ReportedTables, scores: ScoreCells, infos: Mapping[str, ModelInfo], names: Mapping[str, str]
) -> AllModels:
    """The table of all models.

    Args:
        tables: reported figures.
        scores: measured and recorded scores.
        infos: by id, the models that have results.
        names: by id of such a model, its name in the published tables, where it is certain.
    """
    rows = model_rows(tables, scores, infos, names)
    ranked, index = _ranked([row for row in rows if row.cells])
    without_cells = sorted((row for row in rows if not row.cells), key=lambda row: row.name.lower())
    return AllModels((*_with_percentiles(ranked), *without_cells), index)


def model_rows(
    tables: ReportedTables,
    scores: ScoreCells,
    infos: Mapping[str, ModelInfo],
    names: Mapping[str, str],
    columns: Sequence[FrontColumn] = FRONT,
) -> list[ModelRow]:
    """Every model with its cells in these columns, in no order and without an index."""
    rows = list(_rows(tables, scores, infos, names, columns))
    counts = Counter(row.name for row, _ in rows)
    return [
        replace(row, name=f"{row.name} ({source})") if counts[row.name] > 1 else row for row, source in rows
    ]


def _rows(
    tables: ReportedTables,
    scores: ScoreCells,
    infos: Mapping[str, ModelInfo],
    names: Mapping[str, str],
    columns: Sequence[FrontColumn],
) -> Iterator[tuple[ModelRow, str]]:
    """Each model with its source, which distinguishes it from another model of the same name."""
    published_names = {model: names.get(model, "") for model in infos}
    same = same_model(tables, published_names, scores.boards)
    groups = _groups(tables.models, published_names, same)
    for place, model in enumerate(tables.models):
        ids = groups.pop(place, [])
        reported = _reported_cells(tables, model, columns)
        if ids or reported:
            cells = _merged(ids, scores, reported, columns)
            title = tables.boards[next(iter(model.rows))].title
            yield _row(ids, tables.facts_of(model), cells, infos, scores), title
    for key, ids in groups.items():
        cells = _merged(ids, scores, {}, columns)
        facts = tables.facts.get(str(key), ModelFacts(str(key)))
        recorded = bool(cells) and all(cell.grade == RECORDED for cell in cells.values())
        yield _row(ids, facts, cells, infos, scores), "recorded" if recorded else "measured here"


def _groups(
    published: Sequence[JoinedModel], names: Mapping[str, str], same: Mapping[str, JoinedModel]
) -> dict[int | str, list[str]]:
    """Ids of models with results: by the place of the published model that they are, else by name or id."""
    places = {id(model): place for place, model in enumerate(published)}
    groups: dict[int | str, list[str]] = {}
    for model, name in names.items():
        key = places[id(same[model])] if model in same else name or f"id {model}"
        groups.setdefault(key, []).append(model)
    return groups


def _reported_cells(
    tables: ReportedTables, model: JoinedModel, columns: Sequence[FrontColumn]
) -> dict[str, FrontCell]:
    """The reported figures of a model, by id of a column."""
    cells = ((column.id, reported_cell(column, model, tables)) for column in columns)
    return {column: cell for column, cell in cells if cell}


def _merged(
    ids: Sequence[str], scores: ScoreCells, reported: Mapping[str, FrontCell], columns: Sequence[FrontColumn]
) -> dict[str, FrontCell]:
    """The model's scores, and reported figures in the columns where it has none; by id of a column."""
    cells = dict(reported)
    for column in columns:
        score = next((cell for model in ids if (cell := scores.find(column, model))), None)
        if score:
            cells[column.id] = replace(score, replaced=reported.get(column.id))
    return {column.id: cells[column.id] for column in columns if column.id in cells}


def _row(
    ids: Sequence[str],
    facts: ModelFacts,
    cells: Mapping[str, FrontCell],
    infos: Mapping[str, ModelInfo],
    scores: ScoreCells,
) -> ModelRow:
    reported = reported_info(facts)
    info = _filled(infos[ids[0]], reported) if ids else reported
    dates = [*(cell.date for cell in cells.values()), *(scores.newest(model) for model in ids)]
    page = info.page if ids else ""
    return ModelRow(info.name, info, page, facts, cells, max(dates, default=""))


def _filled(info: ModelInfo, reported: ModelInfo) -> ModelInfo:
    """The card `info`, with the reported facts in the fields that it leaves open."""
    missing: dict[str, Any] = {
        field.name: getattr(reported, field.name)
        for field in fields(info)
        if getattr(info, field.name) is None
    }
    return replace(info, **missing)


def _ranked(rows: Sequence[ModelRow]) -> tuple[list[ModelRow], Index | None]:
    """The rows in the order of the index, and the index in the same order."""
    if not rows:
        return [], None
    table = [[row.cells.get(column.id) for column in FRONT] for row in rows]
    scores = np.array([[cell.share if cell else np.nan for cell in cells] for cells in table])
    tasks = np.array([[cell.tasks if cell else np.nan for cell in cells] for cells in table])
    released = np.array([_released(row.info.released or "") for row in rows])
    index = compute_index(scores, [column.index for column in FRONT], released, tasks=tasks)
    order = sorted(range(len(rows)), key=lambda place: (index.rows[place].rank, rows[place].name.lower()))
    sorted_index = replace(
        index, rows=tuple(index.rows[place] for place in order), draws=index.draws[:, order]
    )
    return [replace(rows[place], index=index.rows[place]) for place in order], sorted_index


def _released(day: str) -> float:
    """The date in years; the middle of a year without a month, nan for an empty text."""
    return int(day) + 0.5 if len(day) == 4 else years(day[:7])


def _with_percentiles(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """The rows with their mean percentile in each discipline, which visitors can weight."""
    columns = pd.DataFrame(
        {
            column.id: percentiles(
                [cell.share if (cell := row.cells.get(column.id)) else np.nan for row in rows]
            )
            for column in SHOWN
        }
    )
    means = columns.T.groupby({column.id: column.discipline for column in SHOWN}).mean()
    by_row = means.loc[list(DISCIPLINES)].T.to_numpy().tolist()
    return [
        replace(row, percentiles=tuple(None if np.isnan(share) else share for share in shares))
        for row, shares in zip(rows, by_row, strict=True)
    ]
