"""Published results: their own pages and rankings, marked as published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from triathlon_runner.catalogue import BUILT_IN
from triathlon_site.exports import latex_table, table_files
from triathlon_site.pages._reported import ReportedTables
from triathlon_site.pages.published._figures import published_figures
from triathlon_site.pages.published._tables import side_tables
from triathlon_site.published import (
    ONLY_PUBLISHED,
    SAME,
    DoubtfulAlias,
    JoinedModel,
    Published,
    PublishedBoard,
)
from triathlon_site.ranking import percentiles
from triathlon_site.render import Draft, Figure, Link, Page, PageContext, Section, formats
from triathlon_site.scores import Board, plan_boards


@dataclass(frozen=True)
class JoinedLine:
    """A model with its place in each source."""

    model: JoinedModel
    percentile: float | None
    """Mean over the sources that have it, where there are two or more."""


@dataclass(frozen=True)
class PublishedContext(PageContext):
    """The template's data for the overview of published results."""

    template: ClassVar[str] = "published/page"
    siblings: list[Link]
    boards: Sequence[PublishedBoard]
    lines: list[JoinedLine]
    doubtful: Sequence[DoubtfulAlias]
    """Names that may be one model, and were not joined."""
    titles: Mapping[str, str]
    """By id of a ranking."""


@dataclass(frozen=True)
class PublishedBoardContext(PageContext):
    """The template's data for the page of one published ranking."""

    template: ClassVar[str] = "published/board"
    board: PublishedBoard
    siblings: list[Link]
    figures: list[Figure]
    side_tables: list[Section]
    paths: Mapping[str, str]
    """By anchor of a smaller table, its CSV file."""
    on_boards: list[tuple[str, str, str]]
    """Title of a column, and title and page of the board that shows its figures beside its own scores; the
    page is empty where nothing was graded here on that board's data."""
    only_here: list[tuple[str, str]]
    """Title of a column that stands on no board, and why."""


def drafts(published: Published, reported: ReportedTables, graded_boards: Sequence[Board]) -> Iterator[Draft]:
    """The overview of published results, and a page for each ranking.

    Args:
        published: the tables with their sources.
        reported: their rankings and models.
        graded_boards: boards of results that were graded here, which rankings link to.
    """
    boards = list(reported.boards.values())
    siblings = [Link("All sources", "published.html"), *(Link(b.title, b.page) for b in boards)]
    lines = _joined_lines(reported.models, boards)
    titles = {board.id: board.title for board in boards}
    overview = PublishedContext(siblings, boards, lines, published.doubtful, titles)
    yield Draft("published.html", overview)
    for board in boards:
        tables = list(side_tables(published, board))
        paths = {part.anchor: f"data/published-{board.id}-{part.anchor}.csv" for part in tables}
        files = [page for part in tables for page in table_files(paths[part.anchor], part)]
        context = PublishedBoardContext(
            board,
            siblings,
            published_figures(board),
            tables,
            paths,
            on_boards=list(_on_boards(board, graded_boards)),
            only_here=[
                (column.title, ONLY_PUBLISHED[board.id, column.id])
                for column in board.columns
                if (board.id, column.id) in ONLY_PUBLISHED
            ],
        )
        yield Draft(board.page, context, (*files, ranking_file(board)))


def _on_boards(board: PublishedBoard, graded_boards: Sequence[Board]) -> Iterator[tuple[str, str, str]]:
    plans = {plan.id: plan for plan in plan_boards(BUILT_IN.entries())}
    pages = {graded.plan.id: graded.plan.page for graded in graded_boards}
    for column in board.columns:
        for name, columns in SAME.items():
            if any((board.id, column.id) in places for places in columns.values()):
                plan = plans[name]
                title = f"{plan.discipline.capitalize()}, {plan.title}"
                yield column.title, title, pages.get(name, "")


def ranking_file(board: PublishedBoard) -> Page:
    """The ranking as LaTeX."""
    head = ("Rank", "Model", *(column.title for column in board.columns))
    rows = [
        (
            formats.rank(best.rank if (best := row.scores.get(board.headline.id)) else None),
            row.name,
            *(formats.score(row.value(column.id), column.maximum) for column in board.columns),
        )
        for row in board.rows
    ]
    title = f"{board.title}, published ({board.sources[0].as_of})"
    return Page(f"data/published-{board.id}.tex", latex_table(title, head, rows))


def _joined_lines(models: Sequence[JoinedModel], boards: Sequence[PublishedBoard]) -> list[JoinedLine]:
    shares: dict[tuple[str, str], float] = {}
    for board in boards:
        rows = [row for row in board.rows if board.headline.id in row.scores]
        values = percentiles([row.scores[board.headline.id].value for row in rows])
        shares |= {(board.id, row.name): float(v) for row, v in zip(rows, values, strict=True)}
    lines = []
    for model in models:
        known = [shares[key, row.name] for key, row in model.rows.items() if (key, row.name) in shares]
        lines.append(JoinedLine(model, sum(known) / len(known) if len(known) > 1 else None))
    return sorted(
        lines, key=lambda line: (-len(line.model.rows), -(line.percentile or 0), line.model.name.lower())
    )
