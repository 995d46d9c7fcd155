"""Tasks across models: which are hard, which tell models apart, which are suspect, and who solves each."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from markupsafe import escape

from triathlon_site.environment import spelt_out
from triathlon_site.evidence import ATTEMPTS, read_attempts, suite_slug
from triathlon_site.figures import grid
from triathlon_site.load import FileAggregate
from triathlon_site.pages import _format
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Draft
from triathlon_site.pages._sections import Figure
from triathlon_site.scores import Board
from triathlon_site.tasks import FEWEST_MODELS, SuiteTasks, TaskStatistics, suite_tasks

LISTED: Final = 8
"""Tasks in each of the short lists."""
GRID_MODELS: Final = 40
ENTRIES_A_PAGE: Final = 1200
"""Models × tasks on one page of details: about 100 kB."""
WHY: Final = {
    "nobody": "nobody solves it",
    "hardly anybody": "hardly anybody solves it",
    "weaker models": "weaker models do better on it than stronger ones",
}

Models = Mapping[str, ModelInfo]


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task in the table of its suite."""

    statistics: TaskStatistics
    link: str

    @property
    def why(self) -> str:
        return WHY.get(self.statistics.suspicion or "", "")


@dataclass(frozen=True, slots=True)
class SuitePage:
    board: Board
    found: SuiteTasks
    path: str
    rows: dict[str, TaskRow]
    """By task."""

    def listed(self, tasks: Sequence[TaskStatistics]) -> list[TaskRow]:
        return [self.rows[task.task] for task in tasks[:LISTED]]


def suite_page(suite: str) -> str:
    return f"tasks/{suite_slug(suite)}.html"


def drafts(boards: Sequence[Board], models: Models) -> Iterator[Draft]:
    """The overview, a page a suite, and pages of who solves each task."""
    pages = [page for board in boards for page in _pages(board)]
    if not pages:
        return
    yield Draft("tasks.html", "tasks", {"pages": pages, "fewest": FEWEST_MODELS})
    for page in pages:
        yield _suite_draft(page, models)
        yield from _details(page, models)


def _pages(board: Board) -> Iterator[SuitePage]:
    for entry in board.plan.suites:
        found = suite_tasks(entry, board.of_suite(entry.id), board.models)
        if found:
            each = _tasks_a_page(found)
            pages = [_details_page(found, start) for start in range(0, len(found.tasks), each)]
            rows = {
                task.task: TaskRow(task, f"{pages[place // each]}#t{place}")
                for place, task in enumerate(found.tasks)
            }
            yield SuitePage(board, found, suite_page(entry.id), rows)


def _details_page(found: SuiteTasks, place: int) -> str:
    return f"tasks/{suite_slug(found.entry.id)}/{place // _tasks_a_page(found) + 1}.html"


def _tasks_a_page(found: SuiteTasks) -> int:
    return max(1, ENTRIES_A_PAGE // len(found.models))


def _suite_draft(page: SuitePage, models: Models) -> Draft:
    found = page.found
    names = [models[model].name for model in found.models[:GRID_MODELS]]
    figure = Figure(
        grid(f"Who solves what of {found.entry.title}", names, found.scores[:GRID_MODELS]),
        "A row a model, the best on top; a column a task, the easiest on the left."
        " Full blue: solved; half blue: in part; grey: not solved; blank: not run.",
    )
    context = {
        "page": page,
        "found": found,
        "figure": figure,
        "hardest": page.listed(found.hardest),
        "separating": page.listed(found.separating),
        "suspect": [page.rows[task.task] for task in found.suspect],
        "enough": len(found.models) >= FEWEST_MODELS,
        "fewest": FEWEST_MODELS,
    }
    rows = spelt_out("".join(map(_row, page.rows.values())))
    return Draft(page.path, "task-suite", context, slots={"rows": rows.encode()})


def _row(row: TaskRow) -> str:
    """One of thousands in the tables of all suites, so written out."""
    task, name = row.statistics, row.statistics.task
    numbers = [
        (task.models, task.models),
        (task.solved, task.solved),
        (f"{task.mean:.6g}", f"{100 * task.mean:.1f}"),
        *([] if task.loops is None else [(f"{task.loops:.6g}", f"{task.loops:.1f}")]),
        (
            "" if math.isnan(task.separation) else f"{task.separation:.6g}",
            _format.coefficient(task.separation),
        ),
    ]
    cells = "".join([f'<td class="number" data-v="{value}">{shown}</td>' for value, shown in numbers])
    head = f'<th scope="row" data-v="{escape(name.lower())}"><a href="../{row.link}">{escape(name)}</a></th>'
    return f'<tr>{head}{cells}<td data-v="{row.why}">{row.why}</td></tr>\n'


def _details(page: SuitePage, models: Models) -> Iterator[Draft]:
    found, each = page.found, _tasks_a_page(page.found)
    attempts = _attempts(page.board.of_suite(found.entry.id), models)
    for start in range(0, len(found.tasks), each):
        tasks = enumerate(found.tasks[start : start + each], start)
        units = "".join([_unit(place, task, attempts.get(task.task, {})) for place, task in tasks])
        yield Draft(
            _details_page(found, start),
            "task-details",
            {"page": page, "found": found},
            slots={"units": units.encode()},
            frame=found.entry.id,
        )


def _unit(place: int, task: TaskStatistics, attempts: Mapping[str, Sequence[str]]) -> str:
    """One task with who solves it, written out as the rows are."""
    said = f"{task.solved} of {task.models} solve it, mean {100 * task.mean:.1f} %"
    if not math.isnan(task.separation):
        said += f"; separation {_format.coefficient(task.separation)}"
    return (
        f'<section class="unit" id="t{place}">'
        f'<h2><a href="#t{place}">{spelt_out(escape(task.task))}</a></h2>\n<p class="muted">{said}</p>\n'
        f'<dl class="who">{_who(attempts)}</dl></section>\n'
    )


def _attempts(files: Mapping[str, FileAggregate], models: Models) -> dict[str, dict[str, list[str]]]:
    """By task and outcome: a link a model to its evidence, in the board's order."""
    result: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for model, file in files.items():
        end = f'">{spelt_out(escape(models[model].name))}</a>'
        for task, outcome, address in read_attempts(file.extracts.read(ATTEMPTS)):
            result[task][outcome].append(f'<a href="../../{address}{end}')
    return result


def _who(by_outcome: Mapping[str, Sequence[str]]) -> str:
    """Terms of a description list, written out: most of a large site's bytes are these links.

    The solvers first, most loops first, then the outcomes by how many models had them.
    """
    ordered = sorted(by_outcome.items(), key=lambda group: (_failure(group[0]), -len(group[1]), group[0]))
    return "".join(
        f"<div><dt>{_outcome(outcome)} {len(links)}</dt><dd>{', '.join(links)}</dd></div>"
        for outcome, links in ordered
    )


@lru_cache(maxsize=256)
def _outcome(outcome: str) -> str:
    """In its colour."""
    solved = outcome == "passed" or "loop" in outcome
    kind = "passed" if solved else "partly" if " of " in outcome else escape(outcome)
    return f'<span class="outcome {kind}">{escape(outcome.replace("_", " "))}</span>'


def _failure(outcome: str) -> int:
    """Negative for a success, the better the lower."""
    if outcome == "passed":
        return -100
    return -int(outcome.partition(" ")[0]) if outcome[0].isdigit() else 1
