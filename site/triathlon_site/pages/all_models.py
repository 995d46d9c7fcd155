"""Every model of any source once, with its scores, its place in the index and in each column."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from triathlon_site.costs import mostly_ran, share_that_ran
from triathlon_site.models import ModelInfo
from triathlon_site.overall_index import Index, IndexRow, compute_index, years
from triathlon_site.pages._scores import Place, places, score_in
from triathlon_site.pages._site import Doubt, Gathered, ModelCard, ModelSnapshot
from triathlon_site.pages.board import FRONT as CORRELATED
from triathlon_site.pages.board import FrontColumn, missing_suites
from triathlon_site.ranking import REPORTED, UNITS_ARE_OPEN, Score
from triathlon_site.scores import Board, ColumnScores, part_run

IN_INDEX: Final = tuple(column for column in CORRELATED if column.in_index)
"""Columns of the index; the page of agreement has all of CORRELATED."""
TABLE: Final = (*IN_INDEX, *(column for column in CORRELATED if not column.column))
"""Columns of the table: behind those of the index, published figures of another quantity."""
RANKED_BY: Final = tuple(column for column in IN_INDEX if not column.optional)
"""Columns that the table can be ranked by, in the order of the choice."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model."""

    name: str
    """With its source where two rows have the name, because it is not certain that they are one model."""
    info: ModelInfo
    cells: dict[str, Score]
    """By id of a column, each on the column's scale."""
    date: str
    """Day or month of its newest result or figure; empty where it is not known."""
    index: IndexRow | None = None
    """None for a model without a cell in a column of the index."""
    open_units: int = 0
    """Planned units that have no result: the columns that lack them have no score here."""
    may_be: Sequence[Doubt] = ()
    """Rows that may be the same model."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """By id of a column without a cell: the sets that its mean lacks, in words."""
    ran: float | None = None
    """Share of the replies that were programs which ran; None where no programs were asked for here."""
    source: str = ""
    """Title of a source of a snapshot, to tell it from another model of the same name."""

    @property
    def mostly_ran(self) -> bool:
        """Whether its scores are of its skill, not of replies in a form that nothing could run."""
        return mostly_ran(self.ran)

    @property
    def has(self) -> list[str]:
        """The columns, and disciplines, that it has a cell in, as the table heads them."""
        return list(dict.fromkeys(column.title.lower() for column in IN_INDEX if column.id in self.cells))


@dataclass(frozen=True, slots=True)
class AllModels:
    """The table of all models."""

    rows: tuple[ModelRow, ...]
    """In the order of the index; models without a cell in its columns last, by name."""
    index: Index | None
    """Of the rows that have a cell, in their order; None where no row has one."""
    snapshots: Sequence[ModelRow] = ()
    """What the index was fitted to: a row a snapshot."""


def all_models(site: Gathered) -> AllModels:
    """The table of all models: a row for each card.

    The index compares snapshots: a row has that of its snapshot with the most columns.
    """
    counted = {column.id for column in IN_INDEX}
    indexed: list[tuple[ModelRow, int]] = []
    """Rows with a place in the index, and that of their snapshot with the most columns."""
    others: list[ModelRow] = []
    snapshots: list[ModelRow] = []
    for card, rows in _card_rows(site, TABLE):
        if not rows:
            continue
        merged = _merged(site, card, rows)
        scored = [row for row in rows if counted & row.cells.keys()]
        if scored:
            columns = [len(counted & row.cells.keys()) for row in scored]
            indexed.append((merged, len(snapshots) + columns.index(max(columns))))
        else:
            others.append(merged)
        snapshots += scored
    others.sort(key=lambda row: (not row.cells, row.name.lower()))
    if not indexed:
        return AllModels(tuple(others), None)
    of_snapshots = _index(snapshots)
    indexed.sort(key=lambda pair: (-of_snapshots.rows[pair[1]].value, pair[0].name.lower()))
    index = of_snapshots.among([place for _, place in indexed])
    ranked = [replace(row, index=place) for (row, _), place in zip(indexed, index.rows, strict=True)]
    return AllModels((*ranked, *others), index, _told_apart(snapshots))


def model_rows(site: Gathered, columns: Sequence[FrontColumn]) -> list[ModelRow]:
    """Every snapshot of every model with its cells in these columns, in no order and without an index."""
    return _told_apart([row for _, rows in _card_rows(site, columns) for row in rows])


def _told_apart(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """The rows; of one name, each with its source."""
    counts = Counter(row.name for row in rows)
    return [replace(row, name=f"{row.name} ({row.source})") if counts[row.name] > 1 else row for row in rows]


Graded = Mapping[str, tuple[Board, ColumnScores]]
"""By id of a column, the column of a board that has its measured and recorded scores."""


def _card_rows(site: Gathered, columns: Sequence[FrontColumn]) -> Iterator[tuple[ModelCard, list[ModelRow]]]:
    """The snapshots of each card that have results or a figure in these columns, the newest first."""
    graded = {
        column.id: (board, scores)
        for column in columns
        if (board := site.board(column.board))
        for scores in board.columns
        if scores.column.id == column.column
    }
    for card in site.cards:
        rows = [(one, _row(site, one, columns, graded)) for one in card.snapshots]
        yield card, [row for one, row in rows if one.ids or row.cells]


def _row(site: Gathered, one: ModelSnapshot, columns: Sequence[FrontColumn], graded: Graded) -> ModelRow:
    """The model's scores, and reported figures in the columns where it has none."""
    cells, missing = {}, {}
    for column in columns:
        reported = site.reported.figure(one.joined, column.reported) if one.joined else None
        score, lacks = None, ""
        if column.id in graded:
            board, scores = graded[column.id]
            found = (_score(site, column, board, scores, model) for model in one.ids)
            score = next(filter(None, found), None)
            # the sets that a mean lacks of the first of these models that has some of them
            lacks = next(filter(None, (missing_suites(board, scores.column, m) for m in one.ids)), "")
        if cell := replace(score, replaced=reported) if score else reported:
            note = "; ".join(filter(None, (cell.note, one.label)))
            cells[column.id] = replace(cell.scaled(column.maximum), note=note)
        elif lacks:
            missing[column.id] = lacks
    dates = [*(cell.date for cell in cells.values()), *(site.newest(model) for model in one.ids)]
    suites = {suite for _, scores in graded.values() for suite in scores.column.suites}
    return ModelRow(
        name=one.info.name,
        info=one.info,
        cells=cells,
        date=max(dates, default=""),
        open_units=sum(
            file.open_units for model in one.ids for file in site.files[model] if file.suite in suites
        ),
        missing=missing,
        source=one.source,
    )


def _merged(site: Gathered, card: ModelCard, rows: Sequence[ModelRow]) -> ModelRow:
    """One row of a card's snapshots: in each column a score graded here, else the newest figure."""
    cells: dict[str, Score] = {}
    missing: dict[str, str] = {}
    for row in rows:
        missing = dict(row.missing) | missing
        for name, cell in row.cells.items():
            if name not in cells or (cells[name].grade == REPORTED and cell.grade != REPORTED):
                cells[name] = cell
    return ModelRow(
        name=card.info.name,
        info=card.info,
        cells=cells,
        date=max(row.date for row in rows),
        open_units=sum(row.open_units for row in rows),
        may_be=site.may_be.get(card.info.id, ()),
        missing=missing,
        ran=share_that_ran([file for model in card.ids for file in site.files[model]]),
    )


def _score(
    site: Gathered, column: FrontColumn, board: Board, scores: ColumnScores, model: str
) -> Score | None:
    """The measured or recorded score of one model; None where it has none, or has one with open units."""
    score = score_in(scores, model)
    if score is None or score.apart == UNITS_ARE_OPEN:
        return None
    date = site.newest(model, set(scores.column.suites))
    part = part_run(board.files[model]) if scores is board.headline else ""
    regraded = "graded again here" if score.judged_again else ""
    note = ", ".join(filter(None, (score.grade, regraded, score.apart, date, part and f"on {part} tasks")))
    # problems made from one seed count once
    seeds: set[str] = set()
    for sample in scores.samples:
        for place in np.flatnonzero(sample.denominators[sample.models.index(model)]):
            seeds.update(sample.origins[place])
    tasks = min(column.tasks, len(seeds) or score.tasks)
    return replace(score, date=date, note=note, tasks=tasks)


def _index(rows: Sequence[ModelRow]) -> Index:
    """The index of rows that have a cell in one of its columns, in their order."""
    cells = [[row.cells.get(column.id) for column in IN_INDEX] for row in rows]
    shares = np.array([[cell.share if cell else np.nan for cell in row] for row in cells])
    counts = np.array([[cell.tasks if cell else 0 for cell in row] for row in cells])
    tasks = np.where(counts, counts, [column.tasks for column in IN_INDEX])
    released = [years(row.info.released or "") for row in rows]
    return compute_index(shares, tasks, np.array(released))


def default_column(rows: Sequence[ModelRow]) -> FrontColumn | None:
    """The discipline's column that most models have, of equal ones the first; None where nobody has any."""
    first = {column.discipline: column for column in reversed(RANKED_BY)}.values()
    counts = Counter(name for row in rows for name in row.cells)
    best = max((column for column in RANKED_BY if column in first), key=lambda column: counts[column.id])
    return best if counts[best.id] else None


def in_order(rows: Sequence[ModelRow], first: FrontColumn | None) -> list[ModelRow]:
    """The rows by their score in `first`; those without it by the next column that they have, then by name.

    A month of release plays no part, as it does in the index.
    """
    columns = sorted(RANKED_BY, key=lambda column: column is not first)

    def key(row: ModelRow) -> tuple[int, float, str]:
        for place, column in enumerate(columns):
            if cell := row.cells.get(column.id):
                return place, -cell.middle, row.name.lower()
        return len(columns), 0.0, row.name.lower()

    return sorted(rows, key=key)


def ranks_in(rows: Sequence[ModelRow], column: FrontColumn) -> Mapping[str, Place]:
    """The places in a column, by name of a model that has a score or figure in it."""
    cells = {row.name: cell for row in rows if (cell := row.cells.get(column.id))}
    ranks = {name: cell.rank for name, cell in cells.items()}
    values = {name: cell.middle for name, cell in cells.items() if not cell.apart}
    return places(values, ranks, beside=any(ranks.values()))
