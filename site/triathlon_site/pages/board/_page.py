"""The page of one board: its ranking with every column, its figures and the smaller tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_runner.records import Outcome
from triathlon_site.costs import CostCell, CostColumn, cost_cells, cost_columns, run_cost
from triathlon_site.exports import section_path, table_files
from triathlon_site.models import ModelInfo
from triathlon_site.pages._cells import Cell, cell
from triathlon_site.pages.board._finding import Finding, finding
from triathlon_site.pages.board._reported import (
    Place,
    ReportedModels,
    places,
    shown_columns,
)
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board._views import heading_of, view_of
from triathlon_site.render import Draft, Figure, Link, PageContext, Section
from triathlon_site.scores import Board, Column, ColumnScores

Models = Mapping[str, ModelInfo]
NOTHING_REPORTED: Final = ReportedModels()


@dataclass(frozen=True)
class BoardRow:
    """One model in the ranking."""

    info: ModelInfo
    cells: tuple[Cell, ...]
    open_units: int | None
    """None for a model of which the board has reported figures only."""
    tasks_done: str
    """`20 of 142` where only a part of the suites was planned, else empty."""
    costs: tuple[CostCell, ...]
    page: str
    """The model's page, from the site's root; empty where it has none."""
    place: Place

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
    costs: list[CostColumn]
    """Columns of cost and speed, behind all others."""
    rows: list[BoardRow]
    graded: bool
    """Whether some scores are recorded or reported: cells show their grade."""
    reported: list[tuple[str, str]]
    """Title and page of each published table that a figure comes from."""
    finding: Finding | None
    figures: list[Figure]
    sections: list[Section]
    section_paths: Mapping[str, str]
    """By anchor of a section, its CSV file."""
    outcome_names: list[str]
    outcomes: list[tuple[ModelInfo, Mapping[str, int]]]
    """How many units of each model ended in each way."""


def board_draft(
    board: Board, boards: Sequence[Board], models: Models, reported: ReportedModels = NOTHING_REPORTED
) -> Draft:
    """The page of one board with the files of its smaller tables; `reported` figures stand in its ranking."""
    view = view_of(board)
    sections = list(view.sections(board, models))
    outcomes = [(models[model], _outcomes(board, model)) for model in board.models]
    run_costs = {model: run_cost(board.files[model]) for model in board.models}
    costs = cost_columns(run_costs)
    columns = shown_columns(board, reported)
    rows = [
        _row(
            board,
            place,
            columns,
            reported,
            models,
            cost_cells(costs, run_costs.get(place.model, run_cost([]))),
        )
        for place in places(board, reported)
    ]
    paths = {part.anchor: section_path(board, part) for part in sections if part.rows}
    files = [page for part in sections if part.rows for page in table_files(paths[part.anchor], part)]
    context = BoardContext(
        board=board,
        discipline=board.plan.discipline,
        view=view,
        siblings=_siblings(board, boards),
        columns=[column.column for column in columns],
        costs=costs,
        rows=rows,
        graded=any(cell.receipt or cell.reported for row in rows for cell in row.cells),
        reported=sorted({(c.reported.title, c.reported.path) for r in rows for c in r.cells if c.reported}),
        finding=finding(board, models),
        figures=board_figures(board, board.models[: view.models_drawn], models),
        sections=sections,
        section_paths=paths,
        outcome_names=[name.value for name in Outcome if any(name in total for _, total in outcomes)],
        outcomes=outcomes,
    )
    return Draft(board.plan.page, context, tuple(files))


def board_figures(board: Board, shown: Sequence[str], models: Models) -> list[Figure]:
    """The board's figures of these models; the other models stay in the background."""
    return list(view_of(board).figures(board, shown, models))


def _row(
    board: Board,
    place: Place,
    columns: Sequence[ColumnScores],
    reported: ReportedModels,
    models: Models,
    costs: tuple[CostCell, ...],
) -> BoardRow:
    """The row of a model of the board, or of a published model, which has reported figures only."""
    published = place.reported
    info = published.info if published else models[place.model]
    figures = published.figures if published else reported.filled.get(place.model, {})
    cells = tuple(
        cell(
            column,
            place.model,
            with_strip=column is board.headline,
            marked=bool(reported),
            reported=figures.get(column.column.id),
        )
        for column in columns
    )
    if published:
        return BoardRow(info, cells, None, "", costs, info.page if published.model else "", place)
    open_units, tasks_done = board.open_units(info.id), board.part_run(info.id)
    return BoardRow(info, cells, open_units, tasks_done, costs, info.page, place)


def _siblings(board: Board, boards: Sequence[Board]) -> list[Link]:
    siblings = [sibling for sibling in boards if heading_of(sibling) == heading_of(board)]
    links = [Link(_sibling_title(sibling), sibling.plan.page) for sibling in siblings]
    return links if len(links) > 1 else []


def _sibling_title(board: Board) -> str:
    """The board's title, behind the name of its discipline where that differs from the heading."""
    plan = board.plan
    return plan.title if heading_of(board) == plan.discipline else f"{plan.discipline}, {plan.title}"


def _outcomes(board: Board, model: str) -> Mapping[str, int]:
    return sum((Counter(file.outcomes) for file in board.files[model]), Counter[str]())
