"""Imported results: other people's replies, graded here; never ranked and not among measured results."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_site.evidence import imported_page
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages._cells import Cell, cell
from triathlon_site.pages.model import unit_draft
from triathlon_site.render import Draft, PageContext
from triathlon_site.scores import Board, Column

PATH: Final = "imported.html"


@dataclass(frozen=True)
class ImportedRow:
    """One model on one board."""

    info: ModelInfo
    cells: tuple[Cell, ...]
    files: tuple[FileAggregate, ...]
    outcomes: str
    units: str
    """The page of all its units."""


@dataclass(frozen=True)
class ImportedTable:
    """The imported results on one board."""

    board: Board
    columns: list[Column]
    rows: list[ImportedRow]


@dataclass(frozen=True)
class ImportedContext(PageContext):
    """The template's data for the page of imported results."""

    template: ClassVar[str] = "imported/page"
    tables: list[ImportedTable]


def drafts(boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Iterator[Draft]:
    """The page of imported results and a page of each model's units; nothing where nothing was imported."""
    if not boards:
        return
    yield Draft(PATH, ImportedContext([_table(board, models) for board in boards]))
    by_model: dict[str, list[FileAggregate]] = {}
    for file in imported_files(boards):
        by_model.setdefault(file.model, []).append(file)
    for model, files in sorted(by_model.items()):
        info = models[model]
        yield unit_draft(info, files, imported_page(info.slug), PATH, imported=True)


def imported_files(boards: Sequence[Board]) -> Iterator[FileAggregate]:
    """The files of imported results, each once, those of variants too."""
    by_id: dict[tuple[str, str], FileAggregate] = {}
    for board in boards:
        plain = [file for files in board.files.values() for file in files]
        variants = [file for files in board.variants.values() for file in files.values()]
        by_id |= {(file.model, file.suite): file for file in (*plain, *variants)}
    yield from by_id.values()


def _table(board: Board, models: Mapping[str, ModelInfo]) -> ImportedTable:
    columns = [column.column for column in board.shown if column.scores]
    return ImportedTable(board, columns, [_row(board, model, models) for model in sorted(board.models)])


def _row(board: Board, model: str, models: Mapping[str, ModelInfo]) -> ImportedRow:
    files = board.files[model]
    total = sum((Counter(file.outcomes) for file in files), Counter[str]())
    outcomes = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(total.items()))
    cells = tuple(cell(column, model, with_strip=False) for column in board.shown if column.scores)
    return ImportedRow(models[model], cells, files, outcomes, imported_page(models[model].slug))
