"""The page of one board: its ranking with every column, its figures and the smaller tables."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

from triathlon_runner.records import Outcome
from triathlon_site.costs import RunCost, run_cost
from triathlon_site.exports import section_path, table_files
from triathlon_site.models import ModelInfo
from triathlon_site.pages._cells import Cell, cell, marks_of
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board._reported import (
    Place,
    ReportedModels,
    places,
    reported_models,
    shown_columns,
)
from triathlon_site.pages.board._view_protocol import DisciplineView
from triathlon_site.pages.board._views_by_discipline import Finding, finding, heading_of, view_of
from triathlon_site.render import Draft, Figure, Link, PageContext, Section
from triathlon_site.scores import Board, Column, ColumnScores, set_title


@dataclass(frozen=True)
class BoardRow:
    """One model in the ranking."""

    info: ModelInfo
    place: Place
    cells: tuple[Cell, ...]
    cost: RunCost
    open_units: int | None = None
    """None for a model of which the board has reported figures only."""
    tasks_done: str = ""
    """`20 of 142` where only a part of the suites was planned, else empty."""

    @property
    def flags(self) -> list[str]:
        """What stands beside the name: that a part of the tasks was planned, that units are open."""
        return [*filter(None, [self.tasks_done]), *([f"{self.open_units} open"] if self.open_units else [])]

    @property
    def grades(self) -> list[str]:
        """Grades of its cells, each once."""
        return list(dict.fromkeys(cell.grade for cell in self.cells if cell.grade))


@dataclass(frozen=True)
class BoardContext(PageContext):
    """The template's data for the page of a board."""

    template: ClassVar[str] = "board/page"
    board: Board
    discipline: str
    view: DisciplineView
    siblings: list[Link]
    """All boards of the discipline, this one among them; empty where there is no other."""
    columns: list[Column]
    costs: list[str]
    """Fields of `RunCost` that some model has a value in: columns behind all others."""
    rows: list[BoardRow]
    graded: bool
    """Whether some scores are recorded or reported: cells show their grade."""
    marks: set[str]
    """Of the scores: those that the table explains."""
    reported: list[tuple[str, str]]
    """Title and page of each published table that a figure comes from."""
    finding: Finding | None
    figures: list[Figure]
    sections: list[Section]
    section_paths: Mapping[str, str]
    """By anchor of a section, its CSV file."""
    outcome_names: list[str]
    outcomes: list[tuple[ModelInfo, Counter[str]]]
    """How many units of each model ended in each way."""


def drafts(site: Gathered, board: Board) -> Iterator[Draft]:
    """The page of one board with the files of its smaller tables; reported figures stand in its ranking."""
    view, models, reported = view_of(board), site.models, reported_models(site, board)
    sections = list(view.sections(board, models))
    outcomes = [
        (models[model], sum((Counter(file.outcomes) for file in board.files[model]), Counter[str]()))
        for model in board.models
    ]
    columns = shown_columns(board, reported)
    rows = [_row(site, board, place, columns, reported) for place in places(board, reported)]
    paths = {part.anchor: section_path(board, part) for part in sections if part.rows}
    context = BoardContext(
        board=board,
        discipline=board.plan.discipline,
        view=view,
        siblings=_siblings(board, site.boards),
        columns=[column.column for column in columns],
        costs=[f.name for f in fields(RunCost) if any(getattr(row.cost, f.name) is not None for row in rows)],
        rows=rows,
        graded=any(cell.receipt or cell.reported for row in rows for cell in row.cells),
        marks=marks_of(cell for row in rows for cell in row.cells),
        reported=sorted({(c.reported.source, c.reported.link) for r in rows for c in r.cells if c.reported}),
        finding=finding(board, models),
        figures=list(view.figures(board, board.models[: view.models_drawn], models)),
        sections=sections,
        section_paths=paths,
        outcome_names=[name.value for name in Outcome if any(name in total for _, total in outcomes)],
        outcomes=outcomes,
    )
    files = (file for part in sections if part.rows for file in table_files(paths[part.anchor], part))
    yield Draft(board.plan.page, context, tuple(files))


def _row(
    site: Gathered,
    board: Board,
    place: Place,
    columns: Sequence[ColumnScores],
    reported: ReportedModels,
) -> BoardRow:
    """The row of a model of the board, or of a published model, which has reported figures only."""
    published, model = place.reported, place.model
    figures = published.figures if published else reported.filled.get(model, {})
    cells = tuple(
        cell(
            column,
            model,
            marked=bool(reported.columns),
            reported=figures.get(column.column.id),
            missing=missing_suites(board, column.column, model),
        )
        for column in columns
    )
    info = published.info if published else site.models[model]
    cost = run_cost(board.files.get(model, ()), info.price)
    if published:
        return BoardRow(info, place, cells, cost)
    part = ", ".join(filter(None, (board.part_run(model), board.samples_run(model))))
    return BoardRow(info, place, cells, cost, board.open_units(model), part)


def missing_suites(board: Board, column: Column, model: str) -> str:
    """The sets that a mean over several lacks of a model, in words; empty where it lacks none."""
    have = {file.suite for file in board.files.get(model, ()) if file.units}
    missing = [suite for suite in column.suites if suite not in have]
    if len(column.suites) == 1 or len(missing) == len(column.suites):
        return ""
    return ", ".join(set_title(suite.partition("/")[2].removeprefix("core-")) for suite in missing)


def _siblings(board: Board, boards: Sequence[Board]) -> list[Link]:
    """Each by its title, behind the name of its discipline where that differs from the heading."""
    links = [
        Link(
            plan.title if heading_of(sibling) == plan.discipline else f"{plan.discipline}, {plan.title}",
            plan.page,
        )
        for sibling in boards
        for plan in (sibling.plan,)
        if heading_of(sibling) == heading_of(board)
    ]
    return links if len(links) > 1 else []
