"""Tasks across models: an overview, a page a suite, and pages of who solves each task."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from markupsafe import escape

from triathlon_runner.suites import SuiteEntry
from triathlon_runner.unit_pages import suite_slug, unit_anchor
from triathlon_site.figures import grid
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import first_of, view_of
from triathlon_site.render import Draft, Figure, Page, Section, Value, as_script
from triathlon_site.scores import Board
from triathlon_site.tasks import FEWEST_MODELS, SuiteTasks, suite_tasks

INDEX: Final = "data/tasks.js"  # a script, because a page opened from a file may load nothing else
GRID_MODELS: Final = 40
ENTRIES_A_PAGE: Final = 1200  # models × tasks on one page of details: about 100 kB
TASKS_A_PAGE: Final = 170  # with few models a task's own elements weigh more


@dataclass(frozen=True)
class SuitePage:
    """One suite with all its tasks."""

    board: Board
    found: SuiteTasks  # its tasks, the easiest first
    path: str
    unit: str  # the word for a task: `task` or `program`

    @property
    def step(self) -> int:
        """Tasks on one page of who solves each."""
        return max(1, min(TASKS_A_PAGE, ENTRIES_A_PAGE // len(self.found.models)))

    def details(self, place: int) -> str:
        """The page that says who solves the task at this place."""
        return f"{self.path.removesuffix('.html')}/{place // self.step + 1}.html"


Solvers = dict[str, list[tuple[str, str]]]
"""By how the models' attempts at one task ended: address of the evidence and name of each model, in the
board's order."""


def suite_page(suite: str) -> str:
    """The page of a suite's tasks."""
    return f"tasks/{suite_slug(suite)}.html"


def suites_with_tasks(site: Gathered) -> Iterator[tuple[Board, SuiteEntry]]:
    """The suites that have pages here, each with its board: those with a unit of a model."""
    for board in site.boards:
        for entry in board.plan.suites:
            if board.of_suite(entry.id):
                yield board, entry


def drafts(site: Gathered) -> Iterator[Draft]:
    """The overview, a page a suite, and pages of who solves each task; nothing without results."""
    pages = [
        SuitePage(
            board,
            suite_tasks(entry, board.of_suite(entry.id), board.models),
            suite_page(entry.id),
            view_of(board).unit,
        )
        for board, entry in suites_with_tasks(site)
    ]
    if pages:
        # what the search of tasks reads: of each suite its title, and the tasks by the page that they are on
        suites = [(page.found.entry.title, _tasks_by_page(page)) for page in pages]
        index = Page(INDEX, f"window.triathlonTasks({as_script({'suites': suites})});\n")
        head = ("Suite", "Models", "Tasks", "Mean, %", "Solved by all", "By nobody")
        overview = Section("Suites", "", head, tuple(map(_overview, pages)))
        yield Draft("tasks.html", "tasks/page", {"suites": overview}, (index,))
    for page in pages:
        suite = page.found
        names = [site.models[model].label for model in suite.models[:GRID_MODELS]]
        figure = Figure(
            grid(f"Who solves what of {suite.entry.title}", names, suite.scores[:GRID_MODELS]),
            "A row a model, the best on top; a column a task, the easiest on the left."
            " Full blue: solved; half blue: in part; grey: not solved; blank: not run."
            + first_of(GRID_MODELS, len(suite.models)),
        )
        addresses = {
            task.task: f"{page.details(n)}#{unit_anchor(task.task)}" for n, task in enumerate(suite.tasks)
        }
        values = {"page": page, "addresses": addresses, "figure": figure, "fewest": FEWEST_MODELS}
        yield Draft(page.path, "tasks/suite", values)
        solvers = _solvers(site, page)
        for start in range(0, len(suite.tasks), page.step):
            tasks = suite.tasks[start : start + page.step]
            shown = {task.task: solvers.get(task.task, {}) for task in tasks}
            values = {"page": page, "start": start, "solvers": shown}
            yield Draft(page.details(start), "tasks/details", values)


def _tasks_by_page(page: SuitePage) -> dict[str, list[str]]:
    tasks = defaultdict[str, list[str]](list)
    for place, task in enumerate(page.found.tasks):
        tasks[page.details(place)].append(task.task)
    return tasks


def _overview(page: SuitePage) -> tuple[Value, ...]:
    """The row of one suite."""
    entry, tasks = page.found.entry, page.found.tasks
    mean, by_nobody = f"{100 * fmean(t.mean for t in tasks):.1f}", sum(not t.solved for t in tasks)
    counts = len(page.found.models), len(tasks), mean, sum(t.solved == t.models for t in tasks), by_nobody
    return Value(entry.title, entry.id, link=page.path), *(Value(str(count)) for count in counts)


def _solvers(site: Gathered, page: SuitePage) -> dict[str, Solvers]:
    """By task; the solvers first, most loops first, then the outcomes by how many models had them.

    Behind the models that are ranked stand those with open units, and those of another protocol.
    """
    by_task: dict[str, Solvers] = defaultdict(lambda: defaultdict(list))
    suite = page.found.entry.id
    apart = {file.model: file for file in site.results.files if file.suite == suite}
    for model, file in {**page.board.of_suite(suite), **apart}.items():
        label = escape(site.models[model].label)  # once, not at each of its tasks
        for task, outcome, address in file.attempts:
            by_task[task][outcome].append((address, label))
    return {task: dict(sorted(groups.items(), key=_place)) for task, groups in by_task.items()}


def _place(group: tuple[str, Sequence[Any]]) -> tuple[int, int, str]:
    """Sort key of an outcome with its models: first passed, then most loops, then what most models had."""
    outcome, models = group
    loops = 100 if outcome == "passed" else int(outcome.partition(" ")[0]) if outcome[0].isdigit() else -1
    return -loops, -len(models), outcome
