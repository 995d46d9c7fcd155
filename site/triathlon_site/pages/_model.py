"""One model: its card, its numbers and where each comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triathlon_site.load import Results
from triathlon_site.pages._figures import Figure, board_figures, neighbours
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Cell, Draft, board_page, cell
from triathlon_site.scores import Board, Column, Overall, OverallRow


@dataclass(frozen=True, slots=True)
class ModelBoard:
    """One model on one board."""

    board: Board
    path: str
    cells: tuple[tuple[Column, Cell], ...]
    figures: list[Figure]
    of: int
    """Models that the board ranks."""


def drafts(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Mapping[str, ModelInfo],
    results: Results,
) -> Iterator[Draft]:
    for model in results.models:
        own = [board for board in boards if model in board.models]
        files = tuple(results.of_model(model).values())
        context = {
            "info": models[model],
            "boards": [_model_board(board, model, models) for board in own],
            "overall": _overall_rows(overalls, model),
            "files": files,
            "card": list(_card(models[model])),
            "notices": [notice for file in files for notice in file.notices],
            "outcomes": sorted({outcome for file in files for outcome in file.outcomes}),
        }
        yield Draft(models[model].page, "model", context)


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
