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
from triathlon_site.pages.front._cells import FrontCell, OwnCells, reported_cell
from triathlon_site.pages.front._columns import FRONT, SHOWN, FrontColumn
from triathlon_site.published import JoinedModel, ModelFacts
from triathlon_site.ranking import percentiles


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model."""

    name: str
    """With its source where two models have the name and it is not certain that they are one."""
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
    """By the index; those without a cell last, by name."""
    index: Index | None
    """Of the rows that have a cell, in their order; None where no row has one."""


DISCIPLINES: Final = tuple(dict.fromkeys(column.discipline for column in SHOWN))


def all_models(
    tables: ReportedTables, own: OwnCells, infos: Mapping[str, ModelInfo], names: Mapping[str, str]
) -> AllModels:
    """The table of all models.

    Args:
        tables: what others report.
        own: measured and recorded scores.
        infos: by id, the models that have results.
        names: by id of such a model, its name in the published tables, where it is certain.
    """
    named = model_rows(tables, own, infos, names)
    placed, index = _placed([row for row in named if row.cells])
    rest = sorted((row for row in named if not row.cells), key=lambda row: row.name.lower())
    return AllModels((*_with_percentiles(placed), *rest), index)


def model_rows(
    tables: ReportedTables,
    own: OwnCells,
    infos: Mapping[str, ModelInfo],
    names: Mapping[str, str],
    columns: Sequence[FrontColumn] = FRONT,
) -> list[ModelRow]:
    """Every model with its cells in these columns, in no order and without an index."""
    rows = list(_rows(tables, own, infos, names, columns))
    counts = Counter(row.name for row, _ in rows)
    return [replace(row, name=f"{row.name} ({of})") if counts[row.name] > 1 else row for row, of in rows]


def _rows(
    tables: ReportedTables,
    own: OwnCells,
    infos: Mapping[str, ModelInfo],
    names: Mapping[str, str],
    columns: Sequence[FrontColumn],
) -> Iterator[tuple[ModelRow, str]]:
    """Each model with what tells it from another of its name."""
    reported = [_reported_cells(tables, model, columns) for model in tables.models]
    named = {model: names.get(model, "") for model in infos}
    groups = _groups(tables.models, named, same_model(tables, named, own.boards))
    for place, model in enumerate(tables.models):
        ids = groups.pop(place, [])
        if ids or reported[place]:
            title = tables.boards[next(iter(model.rows))].title
            yield (
                _row(ids, tables.facts_of(model), _merged(ids, own, reported[place], columns), infos, own),
                title,
            )
    for key, ids in groups.items():
        cells = _merged(ids, own, {}, columns)
        facts = tables.facts.get(str(key), ModelFacts(str(key)))
        recorded = bool(cells) and all(cell.grade == RECORDED for cell in cells.values())
        yield _row(ids, facts, cells, infos, own), "recorded" if recorded else "measured here"


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
    """What is reported of a model, by id of a column."""
    found = ((column.id, reported_cell(column, model, tables)) for column in columns)
    return {column: cell for column, cell in found if cell}


def _merged(
    ids: Sequence[str], own: OwnCells, reported: Mapping[str, FrontCell], columns: Sequence[FrontColumn]
) -> dict[str, FrontCell]:
    """Own scores take the place of reported ones, which they name."""
    cells = {}
    for column in columns:
        found = next((cell for model in ids if (cell := own.find(column, model))), None)
        other = reported.get(column.id)
        if found or other:
            cells[column.id] = replace(found, replaced=other) if found else other
    return {column: cell for column, cell in cells.items() if cell}


def _row(
    ids: Sequence[str],
    facts: ModelFacts,
    cells: Mapping[str, FrontCell],
    infos: Mapping[str, ModelInfo],
    own: OwnCells,
) -> ModelRow:
    known = reported_info(facts)
    info = _filled(infos[ids[0]], known) if ids else known
    dates = [*(cell.date for cell in cells.values()), *(own.newest(model) for model in ids)]
    page = info.page if ids else ""
    return ModelRow(info.name, info, page, facts, cells, max(dates, default=""))


def _filled(info: ModelInfo, known: ModelInfo) -> ModelInfo:
    """With what else is known where `info` says nothing."""
    missing: dict[str, Any] = {
        field.name: getattr(known, field.name) for field in fields(info) if getattr(info, field.name) is None
    }
    return replace(info, **missing)


def _placed(rows: Sequence[ModelRow]) -> tuple[list[ModelRow], Index | None]:
    """By the index; the index has the same order."""
    if not rows:
        return [], None
    shape = [[row.cells.get(column.id) for column in FRONT] for row in rows]
    scores = np.array([[cell.share if cell else np.nan for cell in cells] for cells in shape])
    tasks = np.array([[cell.tasks if cell else np.nan for cell in cells] for cells in shape])
    released = np.array([_released(row.info.released or "") for row in rows])
    index = compute_index(scores, [column.index for column in FRONT], released, tasks=tasks)
    order = sorted(range(len(rows)), key=lambda place: (index.rows[place].rank, rows[place].name.lower()))
    sorted_index = replace(
        index, rows=tuple(index.rows[place] for place in order), draws=index.draws[:, order]
    )
    return [replace(rows[place], index=index.rows[place]) for place in order], sorted_index


def _released(day: str) -> float:
    """In years; of a year its middle, nan for an empty text."""
    return int(day) + 0.5 if len(day) == 4 else years(day[:7])


def _with_percentiles(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """For the visitor's own weights."""
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
