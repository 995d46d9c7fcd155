"""The page of one model: its card, its scores and the receipt of each."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_runner import catalogue
from triathlon_runner.records import Outcome
from triathlon_site.costs import GroupBoard, group_boards, most_of_headline
from triathlon_site.evidence import receipt_anchor
from triathlon_site.exports import Badge, badge_files, badges_of
from triathlon_site.figures import TokenPoint, score_by_tokens
from triathlon_site.load import FileAggregate, Results
from triathlon_site.models import ModelInfo
from triathlon_site.noise import ScoreNoise, score_noise
from triathlon_site.pages._cells import Cell, cell
from triathlon_site.pages.board import board_figures
from triathlon_site.pages.model._falls import Fall, falls_of
from triathlon_site.pages.model._profile import Profile, profile
from triathlon_site.pages.model._units import unit_draft
from triathlon_site.render import Draft, Figure, PageContext, formats
from triathlon_site.scores import Board, Column, Overall, OverallRow

USUAL: Final = tuple(Outcome)[:-1]
"""Outcomes that have a column even where no unit ended so."""


@dataclass(frozen=True)
class ModelBoard:
    """One model on one board."""

    board: Board
    cells: tuple[tuple[Column, Cell], ...]
    headline: tuple[Column, Cell] | None
    figures: list[Figure]
    rise: float | None
    """How much its headline could rise at most if no reply had been cut."""


@dataclass(frozen=True)
class Place:
    """A model's place in the overall order of one family of data."""

    family: str
    row: OverallRow
    ranked: int
    """Number of models that the order ranks."""


@dataclass(frozen=True)
class Effort:
    """The rows of the model's group on one board."""

    group: GroupBoard
    figure: Figure


@dataclass(frozen=True)
class FileRow:
    """One results file with its cost and the command that verifies it."""

    file: FileAggregate
    anchor: str
    """The anchor of its receipt."""
    cost: str
    verify: str


@dataclass(frozen=True)
class ModelContext(PageContext):
    """The template's data for the page of a model."""

    template: ClassVar[str] = "model/page"
    info: ModelInfo
    card: list[tuple[str, str]]
    overall: list[Place]
    boards: list[ModelBoard]
    efforts: list[Effort]
    """Where it is one of several rows of a model, by board."""
    profile: Profile
    falls: list[Fall]
    outcome_names: list[str]
    files: list[FileRow]
    run_here: bool
    """Whether some file is of a run, which has tokens, times and costs; a recording has none."""
    noise: list[ScoreNoise]
    """The noise of each suite whose tasks it was asked several times."""
    anchors: Mapping[str, str]
    """By suite, the anchor of its receipt."""
    badges: list[Badge]


def drafts(
    shown: Sequence[str],
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Mapping[str, ModelInfo],
    results: Results,
) -> Iterator[Draft]:
    """The pages of these models, two each."""
    order = {entry.id: place for place, entry in enumerate(catalogue.entries())}
    for model, unordered in results.of_models(shown).items():
        info = models[model]
        # in the order of the catalogue, a suite's variants behind it
        files = sorted(
            unordered, key=lambda file: (order.get(file.suite.partition("@")[0], len(order)), file.suite)
        )
        on_boards = [board for board in boards if model in board.models]
        badges = list(badges_of(info, on_boards, overalls))
        names = [n.value for n in Outcome if n in USUAL or any(n in file.outcomes for file in files)]
        context = ModelContext(
            info=info,
            card=[*_card(info), *_served(files)],
            overall=list(_places(overalls, model)),
            boards=[_model_board(board, model, models) for board in on_boards],
            efforts=[_effort(group) for group in group_boards(info, on_boards, models)],
            profile=profile(model, on_boards, overalls, models),
            falls=list(falls_of(info, on_boards)),
            outcome_names=names,
            files=[_file_row(file) for file in files],
            run_here=any(not file.receipt for file in files),
            noise=score_noise(files),
            anchors={file.suite: receipt_anchor(file.suite) for file in files},
            badges=badges,
        )
        yield Draft(info.page, context, badge_files(badges))
        yield unit_draft(info, files, info.units_page, info.page)


def _model_board(board: Board, model: str, models: Mapping[str, ModelInfo]) -> ModelBoard:
    cells = tuple(
        (column.column, cell(column, model, with_strip=True))
        for column in board.shown
        if model in column.scores
    )
    return ModelBoard(
        board,
        cells,
        next((pair for pair in cells if pair[0].headline), None),
        board_figures(board, _neighbours(board, model), models),
        most_of_headline(board, model),
    )


def _effort(group: GroupBoard) -> Effort:
    """The rows of a group on one board, on the scale of the table beside the figure."""
    column = group.board.headline.column
    scale = 100 if column.maximum == 1 else 1
    maximum = scale * column.maximum
    points = [
        TokenPoint(
            member.info.name,
            member.tokens,
            scale * member.score.value,
            scale * member.score.interval.low,
            scale * member.score.interval.high,
            None if member.rise is None else min(maximum, scale * (member.score.value + member.rise)),
        )
        for member in group.members
    ]
    title = f"{group.board.plan.discipline}: {column.title} by output tokens"
    caption = f"{column.title}, 0 to {maximum:g}, by output tokens a unit, with 95 % intervals."
    if group.has_bounds:
        caption += " Dashed: how far it could rise if no reply had been cut at the token limit."
    svg = score_by_tokens(title, points, formats.inside(column.title), maximum)
    return Effort(group, Figure(svg, caption))


def _neighbours(board: Board, model: str) -> list[str]:
    """The model, then those ranked next to it."""
    position = board.models.index(model)
    neighbours = board.models[max(0, position - 2) : position + 3]
    return [model, *(neighbour for neighbour in neighbours if neighbour != model)]


def _places(overalls: Mapping[str, Overall], model: str) -> Iterator[Place]:
    for family, overall in overalls.items():
        ranked = sum(row.rank is not None for row in overall.rows)
        yield from (Place(family, row, ranked) for row in overall.rows if row.model == model)


def _file_row(file: FileAggregate) -> FileRow:
    verify = f"triathlon verify --models {shlex.quote(file.model)} --suites {shlex.quote(file.suite)}"
    return FileRow(file, receipt_anchor(file.suite), _cost(file), verify)


def _cost(file: FileAggregate) -> str:
    """In dollars; `unknown` where the server counted no tokens, a dash where models.yaml names no price."""
    if file.manifest is None:
        return formats.NONE
    if file.manifest.usage.uncounted:
        return "unknown"
    return formats.NONE if file.manifest.cost_usd is None else f"${file.manifest.cost_usd:.2f}"


def _served(files: Sequence[FileAggregate]) -> Iterator[tuple[str, str]]:
    """The line of the card that says which servers answered, from the manifests."""
    servers = sorted({file.manifest.served_by for file in files if file.manifest and not file.receipt})
    if servers:
        yield "Served by", "; ".join(servers)


def _card(info: ModelInfo) -> Iterator[tuple[str, str]]:
    """The lines of the card: the facts of the model that are known."""
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
