"""The whole site as a list of pages, before anything is written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

from triathlon_site.costs import solved_cost_by_name
from triathlon_site.exchange import archives
from triathlon_site.exports import Reported, core_files, data_files, published_files
from triathlon_site.history import History
from triathlon_site.load import Archived, Notice, Results
from triathlon_site.models import ModelInfo
from triathlon_site.pages import (
    agreement,
    changes,
    choose,
    compare,
    data,
    front,
    imported,
    method,
    model,
    overall,
    tasks,
)
from triathlon_site.pages import board as board_pages
from triathlon_site.pages import published as published_pages
from triathlon_site.pages._reported import ReportedTables, same_model
from triathlon_site.published import SAME, Published, count_facts
from triathlon_site.recordings import Recordings
from triathlon_site.render import Draft, Environment, Link, Page
from triathlon_site.scores import Board, Overall

MODELS_A_SECTION: Final = 5


@dataclass(frozen=True, slots=True)
class Gathered:
    """All data that the pages are made from."""

    results: Results
    boards: tuple[Board, ...]
    overalls: Mapping[str, Overall]
    """By family of data; families without results are left out."""
    models: Mapping[str, ModelInfo]
    date: str
    """Day of the newest result, or of SOURCE_DATE_EPOCH."""
    version: str
    published: Published | None = None
    history: History = field(default_factory=History)
    imported: tuple[Board, ...] = ()
    """Boards of imported results alone."""
    archived: tuple[Archived, ...] = ()
    recordings: Recordings = field(default_factory=Recordings)
    url: str = ""
    """Where the site will be published, with a slash at its end; empty where that is not known."""
    docs: str = ""
    """Where the docs will be, seen from the front page; empty where they are not published with it."""
    published_names: Mapping[str, str] = field(default_factory=dict)
    """By id of a model with results, its name in the published tables, where it is certain."""

    @property
    def has_all_models(self) -> bool:
        """Whether the front page is the table of all models; else it is an order over all disciplines."""
        return front.has_models(self.published, self.boards)

    @property
    def overall_pages(self) -> Mapping[str, str]:
        """By family of data, the page with the order over all disciplines."""
        return overall.paths(self.overalls, "" if self.has_all_models else front.PATH)

    @property
    def units(self) -> int:
        """Units of all measured results."""
        return sum(file.units for file in self.results.files)

    @property
    def notices(self) -> Sequence[Notice]:
        """The faults in the results."""
        return self.results.notices


Parts = Iterable[Draft | Page]
Section = Callable[[], Parts]


class Rendering:
    """The pages and data files of a site, in sections that different processes can render."""

    def __init__(self, site: Gathered, environment: Environment) -> None:
        self.site, self.environment = site, environment
        self._links = _links(site)
        self._sections = _sections(site)

    def __len__(self) -> int:
        """The number of sections."""
        return len(self._sections)

    def section(self, number: int) -> Iterator[Page]:
        """The pages of one section."""
        for part in self._sections[number]():
            if isinstance(part, Page):
                yield part
            else:
                yield Page(part.path, self._rendered(part))
                yield from part.files

    def _rendered(self, draft: Draft) -> str:
        return self.environment.render(
            draft.context.template,
            root="../" * draft.path.count("/"),
            here=draft.path,
            links=self._links,
            site=self.site,
            **draft.context.variables(),
        )


def _sections(site: Gathered) -> tuple[Section, ...]:
    """The front page first; models, of which there are many, a few at a time."""
    models = site.results.models
    tables = cache(lambda: ReportedTables(site.published))
    return (
        lambda: _front_section(site, tables()),
        *(partial(_board_section, site, board, tables) for board in site.boards),
        lambda: _agreement_section(site, tables()),
        lambda: tasks.drafts(site.boards, site.models),
        lambda: _compare_section(site),
        lambda: _published_section(site, tables()),
        lambda: imported.drafts(site.imported, site.models),
        lambda: _other_section(site),
        lambda: data_files(site.boards, site.overalls, site.models, site.notices, reported_by_board(site)),
        *(
            partial(
                model.drafts,
                models[start : start + MODELS_A_SECTION],
                site.boards,
                site.overalls,
                site.models,
                site.results,
            )
            for start in range(0, len(models), MODELS_A_SECTION)
        ),
    )


def _front_section(site: Gathered, tables: ReportedTables) -> Parts:
    """The front page, the page to choose a model from its table, and the board of our own problems."""
    if site.has_all_models:
        table = front.all_models(*_sources_of_models(site, tables))
        core = site.overall_pages[overall.CORE]
        compared = compare.compared_families(site.overalls)
        family = next((family for family in ("official", overall.CORE) if family in compared), "")
        neighbours = f"compare.html#neighbours-{family}" if family else ""
        yield from front.drafts(table, site.boards, site.models, site.results, core, neighbours)
        solved = solved_cost_by_name(site.boards, site.models, choose.BOARDS)
        yield from choose.drafts(choose.candidates(table, solved))
    elif not site.overall_pages:
        yield Draft(front.PATH, front.EmptyContext())
    yield from overall.drafts(site.overall_pages, site.overalls, site.models, site.results)


def _board_section(site: Gathered, board: Board, tables: Callable[[], ReportedTables]) -> Parts:
    yield board_pages.board_draft(board, site.boards, site.models, _reported_on(site, board, tables))


def _reported_on(
    site: Gathered, board: Board, tables: Callable[[], ReportedTables]
) -> board_pages.ReportedModels:
    if board.plan.id not in SAME:
        return board_pages.ReportedModels()
    same = same_model(tables(), site.published_names, site.boards)
    return board_pages.reported_models(board, tables(), same, site.models)


def reported_by_board(site: Gathered) -> Reported:
    """The reported figures that stand on each board, by its id."""
    tables = cache(lambda: ReportedTables(site.published))
    return {
        board.plan.id: board_pages.reported_scores(_reported_on(site, board, tables), site.models)
        for board in site.boards
    }


def _agreement_section(site: Gathered, tables: ReportedTables) -> Parts:
    if not site.boards and not site.has_all_models:
        return ()
    rows: Sequence[front.ModelRow] = ()
    if site.has_all_models:
        rows = front.model_rows(*_sources_of_models(site, tables), front.CORRELATED)
    return agreement.drafts(site.boards, site.models, rows)


def _sources_of_models(
    site: Gathered, tables: ReportedTables
) -> tuple[ReportedTables, front.ScoreCells, dict[str, ModelInfo], Mapping[str, str]]:
    """The arguments from which `front` makes the rows of the table of all models."""
    infos = {model: site.models[model] for model in site.results.models}
    return tables, front.ScoreCells(site.boards, site.results), infos, site.published_names


def _compare_section(site: Gathered) -> Parts:
    if len(site.results.models) > 1:
        yield compare.draft(site.boards, site.overalls, site.models)
    yield from compare.files(site.boards, site.models)


def _published_section(site: Gathered, tables: ReportedTables) -> Parts:
    if site.published:
        yield from published_pages.drafts(site.published, tables, site.boards)
        yield from published_files(site.published)


def _other_section(site: Gathered) -> Parts:
    yield from method.drafts(site.results)
    if site.boards:
        yield from changes.drafts(site.history, site.boards, site.models, site.results.models)
    yield _data_draft(site)
    yield from core_files(site.url)


def _data_draft(site: Gathered) -> Draft:
    published = site.published
    facts = count_facts(published.facts, published.fact_sources) if published and published.facts else None
    packed = list(archives(site.results, site.boards, site.models, site.url))
    json_ld = data.dataset(
        site.boards,
        site.overalls,
        packed,
        site.models,
        url=site.url,
        date=site.date,
        version=site.version,
    )
    return data.draft(facts, packed, json_ld)


def _links(site: Gathered) -> list[Link]:
    """The links to the main pages, as every page has them."""
    links = [Link(front.TITLE, front.PATH)] if site.has_all_models or not site.overall_pages else []
    if site.has_all_models:
        links.append(Link("Choose", choose.PATH))
    links += [Link(overall.TITLES[family], path) for family, path in site.overall_pages.items()]
    pages: dict[str, list[str]] = {}
    for board in site.boards:
        pages.setdefault(board_pages.heading_of(board), []).append(board.plan.page)
    links += [Link(heading.capitalize(), paths[0], tuple(paths)) for heading, paths in pages.items()]
    if site.boards:
        links.append(Link("Tasks", "tasks.html"))
    if site.boards or site.has_all_models:
        links += [Link("Agreement", "agreement.html")]
    if len(site.results.models) > 1:
        links.append(Link("Compare", "compare.html"))
    if site.published:
        links.append(Link("Published", "published.html"))
    if site.imported:
        links.append(Link("Imported", imported.PATH))
    return [*links, Link("Method", "method.html", ("prompts.html", "core.html")), Link("Data", "data.html")]
