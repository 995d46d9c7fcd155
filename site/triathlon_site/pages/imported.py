"""Imported results: other people's replies, graded here; never ranked and not among measured results."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from triathlon_site.evidence import imported_page
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages._cells import Cell, cell
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.model import unit_draft
from triathlon_site.render import Draft, PageContext
from triathlon_site.scores import Board, ColumnScores

PATH: Final = "imported.html"


@dataclass(frozen=True)
class ImportedRow:
    """One model on one board."""

    info: ModelInfo
    cells: list[Cell]
    files: tuple[FileAggregate, ...]
    outcomes: Counter[str]
    units: str
    """The page of all its units."""

    @property
    def part(self) -> str:
        """Of how many tasks the scores are, where that is not all: `30 of 164 tasks`; else empty."""
        tasks, whole = (
            sum(counts) for counts in zip(*(file.task_counts for file in self.files), strict=True)
        )
        return f"{tasks} of {whole} tasks" if tasks < whole else ""


@dataclass(frozen=True)
class ImportedContext(PageContext):
    """The template's data for the page of imported results."""

    template: ClassVar[str] = "imported/page"
    tables: list[tuple[Board, list[ColumnScores], list[ImportedRow]]]
    """Each board with its columns and models, these by name."""


def drafts(site: Gathered) -> Iterator[Draft]:
    """The page of imported results and a page of each model's units; nothing where nothing was imported."""
    if not site.imported:
        return
    tables = [(board, [c for c in board.shown if c.scores]) for board in site.imported]
    yield Draft(
        PATH,
        ImportedContext(
            [
                (board, columns, [_row(site, board, columns, model) for model in sorted(board.models)])
                for board, columns in tables
            ]
        ),
    )
    files = list(imported_files(site.imported))
    for model in sorted({file.model for file in files}):
        info, own = site.models[model], [file for file in files if file.model == model]
        yield unit_draft(info, own, imported_page(info.slug), PATH, imported=True)


def imported_files(boards: Sequence[Board]) -> Iterator[FileAggregate]:
    """The files of imported results, each once, those of variants too."""
    by_id: dict[tuple[str, str], FileAggregate] = {}
    for board in boards:
        plain = [file for files in board.files.values() for file in files]
        variants = [file for files in board.variants.values() for file in files.values()]
        by_id |= {(file.model, file.suite): file for file in (*plain, *variants)}
    yield from by_id.values()


def _row(site: Gathered, board: Board, columns: Sequence[ColumnScores], model: str) -> ImportedRow:
    info, files = site.models[model], board.files[model]
    outcomes = sum((Counter(file.outcomes) for file in files), Counter[str]())
    # A mark of what is in no ranking says nothing here, and would link to a page of measured results.
    cells = [replace(cell(column, model), receipt="") for column in columns]
    return ImportedRow(info, cells, files, outcomes, imported_page(info.slug))
