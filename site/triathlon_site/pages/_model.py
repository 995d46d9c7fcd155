"""One model: its card, its numbers and where each comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_runner.records import Outcome
from triathlon_site.evidence import LINKS
from triathlon_site.exports import badge_files, badges_of
from triathlon_site.load import FileAggregate, Results
from triathlon_site.pages._falls import falls_of
from triathlon_site.pages._figures import board_figures, neighbours
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Cell, Draft, board_page, cell, slot
from triathlon_site.pages._profile import profile
from triathlon_site.pages._receipts import receipt, receipt_anchor
from triathlon_site.pages._sections import Figure
from triathlon_site.scores import Board, Column, Overall, OverallRow

USUAL: Final = tuple(Outcome)[:-1]
"""Outcomes that have a column even where no unit ended so."""


@dataclass(frozen=True, slots=True)
class ModelBoard:
    """One model on one board."""

    board: Board
    path: str
    cells: tuple[tuple[Column, Cell], ...]
    figures: list[Figure]
    of: int
    """Models that the board ranks."""


@dataclass(frozen=True, slots=True)
class SuiteTasks:
    suite: str
    outcomes: dict[str, int]
    links: Markup
    """A list item a unit."""


def drafts(
    shown: Sequence[str],
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Mapping[str, ModelInfo],
    results: Results,
) -> Iterator[Draft]:
    """The pages of the models that are shown."""
    comparable = len(results.models) > 1
    for model, unordered in results.of_models(shown).items():
        files = _in_order(unordered)
        own = [board for board in boards if model in board.models]
        badges = list(badges_of(models[model], own, overalls))
        context = {
            "info": models[model],
            "badges": badges,
            "boards": [_model_board(board, model, models) for board in own],
            "overall": _overall_rows(overalls, model),
            "files": files,
            "comparable": comparable,
            "card": [*_card(models[model]), *_served(files)],
            "notices": [notice for file in files for notice in file.notices],
            "tasks_page": tasks_page(models[model]),
            "outcomes": [
                name.value for name in Outcome if name in USUAL or any(name in f.outcomes for f in files)
            ],
            "profile": profile(model, own, overalls, models),
            "falls": list(falls_of(models[model], own)),
            "receipts": {file.suite: receipt_anchor(file.suite) for file in files},
            "receipt_list": Markup("".join([receipt(file, models[model]) for file in files])),
        }
        yield Draft(models[model].page, "model", context, badge_files(badges))
        yield unit_draft(models[model], files, tasks_page(models[model]), models[model].page)


def _in_order(files: Sequence[FileAggregate]) -> list[FileAggregate]:
    """As the catalogue lists their suites, a suite's variants behind it."""
    order = _catalogue()
    return sorted(files, key=lambda file: (order.get(file.suite.partition("@")[0], len(order)), file.suite))


@cache
def _catalogue() -> dict[str, int]:
    """Place of each suite; asked for when a page is made, as the catalogue is no part of the start."""
    return {entry.id: place for place, entry in enumerate(catalogue.entries())}


def tasks_page(info: ModelInfo) -> str:
    return f"models/{info.slug}-tasks.html"


def unit_draft(
    info: ModelInfo, files: Sequence[FileAggregate], path: str, home: str, *, imported: bool = False
) -> Draft:
    """Every unit of a model with a link to its evidence."""
    links = {str(place): file.extracts.read(LINKS) for place, file in enumerate(files)}
    suites = [
        SuiteTasks(file.suite, file.outcomes, slot(name)) for name, file in zip(links, files, strict=True)
    ]
    context = {"info": info, "suites": suites, "home": home, "imported": imported}
    return Draft(path, "model-tasks", context, slots=links)


def _model_board(board: Board, model: str, models: Mapping[str, ModelInfo]) -> ModelBoard:
    cells = tuple(
        (column.column, cell(column, model, with_strip=True))
        for column in board.shown
        if model in column.scores
    )
    return ModelBoard(
        board,
        board_page(board),
        cells,
        board_figures(board, tuple(neighbours(board, model)), models),
        len(board.headline.scores),
    )


def _overall_rows(overalls: Mapping[str, Overall], model: str) -> list[tuple[str, OverallRow, int]]:
    return [
        (family, row, sum(other.rank is not None for other in overall.rows))
        for family, overall in overalls.items()
        for row in overall.rows
        if row.model == model
    ]


def _served(files: Sequence[FileAggregate]) -> Iterator[tuple[str, str]]:
    """By what, as the manifests say."""
    by = sorted({file.manifest.served_by for file in files if file.manifest})
    if by:
        yield "Served by", "; ".join(by)


def _card(info: ModelInfo) -> Iterator[tuple[str, str]]:
    """What is known, and nothing about what is not."""
    openness = {True: "open", False: "closed", None: None}[info.open_weights]
    price = f"${info.price[0]:g} in, ${info.price[1]:g} out per million tokens" if info.price else None
    facts = {
        "Size": info.parameters,
        "Licence": info.license,
        "Weights": openness,
        "Released": info.released,
        "Kind": info.kind,
        "Price": price,
        "Id": info.id,
    }
    yield from ((label, value) for label, value in facts.items() if value)
