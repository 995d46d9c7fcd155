"""Published results: the overview of all, and a page for each ranking."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from triathlon_runner.catalogue import BUILT_IN
from triathlon_site.exports import latex_table, published_files, table_files
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.published._figures import published_figures
from triathlon_site.pages.published._tables import side_tables
from triathlon_site.published import (
    ONLY_PUBLISHED,
    SAME,
    JoinedModel,
    PublishedBoard,
)
from triathlon_site.ranking import percentiles
from triathlon_site.render import Draft, Figure, Link, Page, PageContext, Section, formats
from triathlon_site.scores import plan_boards


@dataclass(frozen=True)
class PublishedContext(PageContext):
    """The template's data for the overview of published results."""

    template: ClassVar[str] = "published/page"
    siblings: list[Link]
    boards: Mapping[str, PublishedBoard]
    lines: list[tuple[JoinedModel, float | None]]
    """Each model with its mean percentile over the sources that have it, where there are two or more."""
    doubtful: Sequence[Mapping[str, str]]
    """Names that may be one model, and were not joined."""


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


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The overview of published results, a page for each ranking, and the tables as files."""
    if not site.published:
        return
    boards = site.reported.boards
    siblings = [Link("All sources", "published.html"), *(Link(b.title, b.page) for b in boards.values())]
    lines = _joined_lines(site.reported.models, boards)
    yield Draft("published.html", PublishedContext(siblings, boards, lines, site.published.doubtful))
    for board in boards.values():
        tables = list(side_tables(site.published, board))
        paths = {part.anchor: f"data/published-{board.id}-{part.anchor}.csv" for part in tables}
        files = [page for part in tables for page in table_files(paths[part.anchor], part)]
        reasons = ((column, ONLY_PUBLISHED.get((board.id, column.id))) for column in board.columns)
        context = PublishedBoardContext(
            board,
            siblings,
            published_figures(board),
            tables,
            paths,
            list(_on_boards(site, board)),
            [(column.title, reason) for column, reason in reasons if reason],
        )
        yield Draft(board.page, context, (*files, _latex(board)))
    yield from published_files(site.published)


def _on_boards(site: Gathered, board: PublishedBoard) -> Iterator[tuple[str, str, str]]:
    plans = [plan for plan in plan_boards(BUILT_IN.entries()) if plan.family == "official"]
    for column in board.columns:
        for plan in plans:
            if any((board.id, column.id) in SAME.get(same.id, ()) for same in plan.columns):
                graded, title = site.board(plan.id), f"{plan.discipline.capitalize()}, {plan.title}"
                yield column.title, title, graded.plan.page if graded else ""


def _latex(board: PublishedBoard) -> Page:
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


def _joined_lines(
    models: Sequence[JoinedModel], boards: Mapping[str, PublishedBoard]
) -> list[tuple[JoinedModel, float | None]]:
    """By number of sources, then by mean percentile, then by name."""
    shares: dict[tuple[str, str], float] = {}
    for board in boards.values():
        scores = {row.name: row.scores.get(board.headline.id) for row in board.rows}
        known = {name: score.value for name, score in scores.items() if score}
        values = percentiles(list(known.values())).tolist()
        shares |= {(board.id, name): share for name, share in zip(known, values, strict=True)}
    lines: list[tuple[JoinedModel, float | None]] = []
    for model in models:
        own = [shares[key, row.name] for key, row in model.rows.items() if (key, row.name) in shares]
        lines.append((model, sum(own) / len(own) if len(own) > 1 else None))
    return sorted(lines, key=lambda line: (-len(line[0].rows), -(line[1] or 0), line[0].name.lower()))
