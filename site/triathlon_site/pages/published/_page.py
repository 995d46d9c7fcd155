"""Published results: the overview of all, and a page for the tables of each paper or board."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from triathlon_runner.catalogue import BUILT_IN
from triathlon_site.exports import latex_table, published_files, table_files
from triathlon_site.models import ModelInfo
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.published import _reproduced
from triathlon_site.pages.published._analyses import analyses, figures, remarks
from triathlon_site.published import (
    ONLY_PUBLISHED,
    SAME,
    JoinedModel,
    PublishedColumn,
    PublishedTable,
)
from triathlon_site.ranking import percentiles
from triathlon_site.render import Draft, Figure, Link, Page, PageContext, Section, formats
from triathlon_site.scores import plan_boards


@dataclass(frozen=True)
class PublishedContext(PageContext):
    """The template's data for the overview of published results."""

    template: ClassVar[str] = "published/page"
    siblings: list[Link]
    boards: Mapping[str, PublishedTable]
    lines: list[tuple[JoinedModel, ModelInfo, float | None]]
    """Each model with its mean percentile over the sources that have it, where there are two or more."""
    doubtful: Sequence[Mapping[str, str]]
    """Names that may be one model, and were not joined."""


@dataclass(frozen=True)
class PublishedPaperContext(PageContext):
    """The template's data for the page of the tables of one paper or board."""

    template: ClassVar[str] = "published/tables"
    title: str
    siblings: list[Link]
    tables: Sequence[PublishedTable]
    infos: Mapping[str, Mapping[str, ModelInfo]]
    """By id of a table, then by name there; a row that is no model, such as a mean, is left out."""
    remarks: Mapping[str, list[str]]
    """By id of a table, sentences that are computed from it."""
    figures: list[Figure]
    sections: list[tuple[Section, str]]
    """Analyses of the tables, with their CSV files."""
    on_boards: list[tuple[str, str, str]]
    """Title of a column, and title and page of the board that shows its figures beside its own scores; the
    page is empty where nothing was graded here on that board's data."""
    only_here: list[tuple[str, str]]
    """Title of a column that stands on no board, and why."""


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The overview of published results, a page for each paper or board, and the tables as files."""
    if not site.published:
        return
    boards = site.reported.boards
    pages: dict[str, list[PublishedTable]] = {}
    for table in site.reported.tables:
        pages.setdefault(table.page, []).append(table)
    titles = [Link(tables[0].title, page) for page, tables in pages.items()]
    siblings = [Link("All sources", "published.html"), *titles, *_reproduced.links(site)]
    lines = [
        (model, site.published_infos[source, model.rows[source].name], percentile)
        for model, percentile in _joined_lines(site.reported.models, boards)
        for source in list(model.rows)[:1]
    ]
    yield Draft("published.html", PublishedContext(siblings, boards, lines, site.published.doubtful))
    for page, tables in pages.items():
        yield _paper(site, page, tables, siblings)
    yield from _reproduced.drafts(site, siblings)
    yield from published_files(site.published)


def _paper(site: Gathered, page: str, tables: Sequence[PublishedTable], siblings: list[Link]) -> Draft:
    infos = {
        table.id: {
            row.name: site.published_infos[table.id, row.name]
            for row in table.rows
            if (table.id, row.name) in site.published_infos
        }
        for table in tables
    }
    sections = [
        (_linked(section, infos[table.id]), f"data/published-{table.id}-{section.anchor}.csv")
        for table in tables
        for section in analyses(table)
    ]
    columns = [(table, column) for table in tables for column in table.columns]
    reasons = ((column, ONLY_PUBLISHED.get((table.id, column.id))) for table, column in columns)
    context = PublishedPaperContext(
        tables[0].title,
        siblings,
        tables,
        infos,
        {table.id: list(remarks(table)) for table in tables},
        [figure for table in tables for figure in figures(table)],
        sections,
        list(_on_boards(site, columns)),
        [(column.title, reason) for column, reason in reasons if reason],
    )
    files = [file for section, path in sections for file in table_files(path, section)]
    return Draft(page, context, (*files, *map(_latex, tables)))


def _linked(section: Section, infos: Mapping[str, ModelInfo]) -> Section:
    """The section with the name of each model in a first cell leading to the model's page."""
    rows = (
        (replace(name, link=infos[name.text].page) if name.text in infos else name, *cells)
        for name, *cells in section.rows
    )
    return replace(section, rows=tuple(rows))


def _on_boards(
    site: Gathered, columns: Sequence[tuple[PublishedTable, PublishedColumn]]
) -> Iterator[tuple[str, str, str]]:
    plans = [plan for plan in plan_boards(BUILT_IN.entries()) if plan.family == "official"]
    for table, column in columns:
        for plan in plans:
            if any((table.id, column.id) in SAME.get(same.id, ()) for same in plan.columns):
                graded, title = site.board(plan.id), f"{plan.discipline.capitalize()}, {plan.title}"
                yield column.title, title, graded.plan.page if graded else ""


def _latex(table: PublishedTable) -> Page:
    """The table as LaTeX."""
    ranks = ("Rank",) if table.headline else ()
    derived = table.derived
    head = (*ranks, "Model", *(c.title for c in table.columns), *(column.title for column in derived))
    rows = []
    for place, row in enumerate(table.rows):
        best = row.scores.get(table.headline.id) if table.headline else None
        rank = (formats.rank(best.rank if best else None),) if table.headline else ()
        cells = [table.text(row, column) or formats.NONE for column in table.columns]
        rows.append((*rank, row.name, *cells, *(column.text(place) for column in derived)))
    title = f"{table.title}, {table.source.part}, published ({table.source.as_of})"
    return Page(f"data/published-{table.id}.tex", latex_table(title, head, rows))


def _joined_lines(
    models: Sequence[JoinedModel], boards: Mapping[str, PublishedTable]
) -> list[tuple[JoinedModel, float | None]]:
    """By number of sources, then by mean percentile, then by name."""
    shares: dict[tuple[str, str], float] = {}
    for board in boards.values():
        known = board.scores(board.headline) if board.headline else {}
        values = percentiles(list(known.values())).tolist()
        shares |= {(board.id, name): share for name, share in zip(known, values, strict=True)}
    lines: list[tuple[JoinedModel, float | None]] = []
    for model in models:
        own = [shares[key, row.name] for key, row in model.rows.items() if (key, row.name) in shares]
        lines.append((model, sum(own) / len(own) if len(own) > 1 else None))
    return sorted(lines, key=lambda line: (-len(line[0].rows), -(line[1] or 0), line[0].name.lower()))
