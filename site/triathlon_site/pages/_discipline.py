"""One discipline: its ranking with every column, and its figures."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from triathlon_runner.records import Discipline, Outcome
from triathlon_site.exports import section_files, section_path
from triathlon_site.pages._evolved_sections import evolved_sections
from triathlon_site.pages._figures import board_figures
from triathlon_site.pages._findings import finding
from triathlon_site.pages._loop_sections import loop_sections, translation_sections
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import BoardRow, Draft, Link, board_page, cell, heading_of, part_run
from triathlon_site.pages._runtime_sections import runtime_sections
from triathlon_site.pages._sections import Section
from triathlon_site.scores import Board

SHOWN: Final = 5
"""Models in a figure of lines: more cannot be told apart."""
ROWS: Final = 30
"""Models in a figure with a row each."""


def draft(board: Board, boards: Sequence[Board], models: Mapping[str, ModelInfo]) -> Draft:
    rows = [
        BoardRow(
            models[model],
            tuple(cell(column, model, with_strip=column is board.headline) for column in board.shown),
            board.open_units(model),
            part_run(board, model),
        )
        for model in board.models
    ]
    sections, outcomes = list(_sections(board, models)), outcome_table(board)
    context = {
        "board": board,
        "discipline": board.plan.discipline.value,
        "siblings": _siblings(board, boards),
        "columns": [column.column for column in board.shown],
        "rows": rows,
        "finding": finding(board, models),
        "figures": board_figures(board, board.models[: ROWS if dotted(board) else SHOWN], models),
        "sections": sections,
        "section_paths": {
            section.anchor: section_path(board, section) for section in sections if section.rows
        },
        "outcomes": [(models[model], counts) for model, counts in outcomes],
        "outcome_names": [name.value for name in Outcome if any(name in counts for _, counts in outcomes)],
    }
    return Draft(board_page(board), "discipline", context, tuple(section_files(board, sections)))


def _sections(board: Board, models: Mapping[str, ModelInfo]) -> Iterator[Section]:
    """What there is beside the ranking."""
    makers = {
        Discipline.LOOP: loop_sections,
        Discipline.TRANSLATION: translation_sections,
        Discipline.RUNTIME: runtime_sections,
        Discipline.EVOLVED: evolved_sections,
    }
    return makers[board.plan.discipline](board, models)


def dotted(board: Board) -> bool:
    return board.plan.discipline == Discipline.RUNTIME


def _siblings(board: Board, boards: Sequence[Board]) -> list[Link]:
    """The discipline's boards on other data, this one among them; none where it is alone."""
    own = [other for other in boards if heading_of(other) == heading_of(board)]
    return [Link(_sibling_title(other), board_page(other)) for other in own] if len(own) > 1 else []


def _sibling_title(board: Board) -> str:
    translated = board.plan.discipline == Discipline.TRANSLATION
    return f"translation, {board.plan.title}" if translated else board.plan.title


def outcome_table(board: Board) -> list[tuple[str, dict[str, int]]]:
    """How the units of each model ended, in the board's order."""
    result = []
    for model in board.models:
        total: Counter[str] = Counter()
        for file in board.files[model]:
            total.update(file.outcomes)
        result.append((model, dict(total)))
    return result
