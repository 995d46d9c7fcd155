"""Tasks across models: hard tasks, tasks that tell models apart, suspect tasks, and who solves each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_site.evidence import suite_slug
from triathlon_site.figures import grid
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board import view_of
from triathlon_site.pages.tasks._solvers import Solvers, solvers_by_task
from triathlon_site.render import Draft, Figure, PageContext
from triathlon_site.scores import Board
from triathlon_site.tasks import FEWEST_MODELS, SuiteTasks, TaskStatistics, suite_tasks

GRID_MODELS: Final = 40
ENTRIES_A_PAGE: Final = 1200
"""Models × tasks on one page of details: about 100 kB."""
Models = Mapping[str, ModelInfo]


@dataclass(frozen=True)
class TaskRow:
    """One task in the table of its suite."""

    statistics: TaskStatistics
    link: str
    """Address of the section on who solves it."""
    anchor: str

    @property
    def why(self) -> str:
        """Why the task is suspect; empty where it is not."""
        return "weaker models do better on it" if self.statistics.suspect else ""

    @property
    def separation(self) -> float | None:
        """None where the separation is not known."""
        return None if math.isnan(self.statistics.separation) else self.statistics.separation


@dataclass(frozen=True)
class SuitePage:
    """One suite with all its tasks."""

    board: Board
    found: SuiteTasks
    path: str
    unit: str
    """The word for a task: `task` or `program`."""
    rows: dict[str, TaskRow]
    """By task, the easiest first."""


@dataclass(frozen=True)
class TasksContext(PageContext):
    """The template's data for the overview of all suites."""

    template: ClassVar[str] = "tasks/page"
    pages: list[SuitePage]
    fewest: int


@dataclass(frozen=True)
class SuiteContext(PageContext):
    """The template's data for the page of one suite."""

    template: ClassVar[str] = "tasks/suite"
    page: SuitePage
    figure: Figure
    fewest: int
    """Models below which nothing is said about which tasks tell them apart."""


@dataclass(frozen=True)
class DetailsContext(PageContext):
    """The template's data for a page of who solves some of the tasks of a suite."""

    template: ClassVar[str] = "tasks/details"
    page: SuitePage
    tasks: list[tuple[TaskRow, list[Solvers]]]


def suite_page(suite: str) -> str:
    """The page of a suite's tasks."""
    return f"tasks/{suite_slug(suite)}.html"


def drafts(boards: Sequence[Board], models: Models) -> Iterator[Draft]:
    """The overview, a page a suite, and pages of who solves each task; nothing without results."""
    pages = [page for board in boards for page in _pages(board)]
    if not pages:
        return
    yield Draft("tasks.html", TasksContext(pages, FEWEST_MODELS))
    for page in pages:
        yield _suite_draft(page, models)
        yield from _details(page, models)


def _pages(board: Board) -> Iterator[SuitePage]:
    for entry in board.plan.suites:
        suite = suite_tasks(entry, board.of_suite(entry.id), board.models)
        if suite:
            rows = {
                task.task: TaskRow(task, f"{_details_page(suite, place)}#t{place}", f"t{place}")
                for place, task in enumerate(suite.tasks)
            }
            yield SuitePage(board, suite, suite_page(entry.id), view_of(board).unit, rows)


def _details_page(suite: SuiteTasks, place: int) -> str:
    return f"tasks/{suite_slug(suite.entry.id)}/{place // _tasks_a_page(suite) + 1}.html"


def _tasks_a_page(suite: SuiteTasks) -> int:
    return max(1, ENTRIES_A_PAGE // len(suite.models))


def _suite_draft(page: SuitePage, models: Models) -> Draft:
    suite = page.found
    names = [models[model].name for model in suite.models[:GRID_MODELS]]
    figure = Figure(
        grid(f"Who solves what of {suite.entry.title}", names, suite.scores[:GRID_MODELS]),
        "A row a model, the best on top; a column a task, the easiest on the left."
        " Full blue: solved; half blue: in part; grey: not solved; blank: not run.",
    )
    return Draft(page.path, SuiteContext(page, figure, FEWEST_MODELS))


def _details(page: SuitePage, models: Models) -> Iterator[Draft]:
    suite, step = page.found, _tasks_a_page(page.found)
    solvers = solvers_by_task(page.board.of_suite(suite.entry.id), models)
    rows = list(page.rows.items())
    for start in range(0, len(rows), step):
        tasks = [(row, solvers.get(task, [])) for task, row in rows[start : start + step]]
        yield Draft(_details_page(suite, start), DetailsContext(page, tasks))
