"""The whole site as a list of pages, before anything is written."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from triathlon_site.costs import solved_costs
from triathlon_site.exports import data_files
from triathlon_site.pages import (
    about,
    agreement,
    board,
    changes,
    choose,
    compare,
    evidence,
    front,
    model,
    overall,
    published,
    tasks,
)
from triathlon_site.pages._site import FRONT, Gathered
from triathlon_site.pages.all_models import IN_INDEX, AllModels, all_models
from triathlon_site.render import MISSING, Draft, Environment, Link, Page
from triathlon_site.scores import Board

MODELS_A_SECTION: Final = 5
Parts = Iterable[Draft | Page]


class Rendering:
    """The pages and data files of a site, in sections that different processes can render."""

    def __init__(self, site: Gathered, environment: Environment) -> None:
        self.site, self.environment = site, environment
        boards = list(_board_links(site))
        links = list(_links(site, boards))
        self._frame = {
            "links": links,
            "has_tasks": "tasks.html" in (link.path for link in links),
            "leaderboards": boards,
            "more": list(_more_links(site)),
            "site": site,
        }
        self._sections = _sections(site)

    def __len__(self) -> int:
        """The number of sections."""
        return len(self._sections)

    def parts(self, number: int) -> Parts:
        """The pages of one section before their templates are filled."""
        return self._sections[number]()

    def section(self, number: int) -> Iterator[Page]:
        """The pages of one section."""
        for part in self.parts(number):
            if isinstance(part, Page):
                yield part
                continue
            # Any address that leads nowhere shows that page, however deep it lies.
            root = self.site.url if part.path == MISSING else "../" * part.path.count("/")
            values = {**self._frame, **part.values, "root": root, "here": part.path}
            frame = "base" if part.path.endswith(".html") else part.template
            yield Page(part.path, self.environment.render(frame, template=part.template, **values))
            yield from part.files


def _sections(site: Gathered) -> list[Callable[[], Parts]]:
    """The front page first; models, of which there are many, a few at a time."""
    table = all_models(site) if site.has_all_models else None
    rows = {row.info.id: row for row in table.rows} if table else {}
    starts = range(0, len(site.cards), MODELS_A_SECTION)
    some = [site.cards[start : start + MODELS_A_SECTION] for start in starts]
    pages = (agreement, tasks, compare, published, about, changes)
    return [
        partial(_front, site, table),
        *(partial(board.drafts, site, one) for one in site.boards),
        *(partial(page.drafts, site) for page in pages),
        partial(_data, site),
        *(partial(model.drafts, site, cards, rows) for cards in some),
        *(partial(evidence.drafts, site, cards) for cards in some),
        partial(evidence.imported_drafts, site),
    ]


def _data(site: Gathered) -> Iterator[Page]:
    """The data files, with the reported figures that stand on each board."""
    reported = {one.plan.id: board.reported_rows(board.board_models(site, one)) for one in site.boards}
    return data_files(site.boards, site.overalls, site.models, site.results.notices, reported)


def _front(site: Gathered, table: AllModels | None) -> Parts:
    """The front page, the page to choose a model from its table, and the orders over all disciplines."""
    if table:
        yield from front.drafts(site, table)
        in_index = {column.board for column in IN_INDEX}
        yield from choose.drafts(table, *solved_costs(site.boards, site.models, in_index))
    elif not site.overall_pages:
        yield Draft(FRONT, "front/empty")
    yield from overall.drafts(site)
    yield Draft(MISSING, "missing/page")


def _links(site: Gathered, boards: list[Link]) -> Iterator[Link]:
    """The links to the main pages, as the head of every page has them; none to a page without content."""
    yield Link("Leaderboard", FRONT, tuple(path for link in boards for path in (link.path, *link.also)))
    if site.has_all_models:
        yield Link("Choose", choose.PATH)
    if site.compared:
        yield Link("Compare", "compare.html")
    if any(tasks.suites_with_tasks(site)):
        yield Link("Tasks", "tasks.html")
    also = ("prompts.html", "core.html", agreement.PATH, agreement.SCATTERS, published.TRUTH)
    yield Link("Method", "method.html", also)
    yield Link("Data", "data.html", ("published.html", evidence.IMPORTED))


def _board_links(site: Gathered) -> Iterator[Link]:
    """All models, the board of each discipline with the most models, the orders over all disciplines."""
    if site.has_all_models:
        yield Link("All models", FRONT)
    headed: dict[str, list[Board]] = {}
    for one in site.boards:
        headed.setdefault(board.heading_of(one), []).append(one)
    for heading, boards in headed.items():
        fullest = max(boards, key=lambda one: len(one.models))
        yield Link(heading.capitalize(), fullest.plan.page, tuple(one.plan.page for one in boards))
    for family, path in site.overall_pages.items():
        yield Link(overall.TITLES[family], path)


def _more_links(site: Gathered) -> Iterator[Link]:
    """The links to all other pages that stand for themselves, as the foot of every page has them."""
    if site.boards or site.has_all_models:
        yield Link("Agreement", agreement.PATH)
    if site.published.sources:
        yield Link("Published", "published.html")
    if any(published.pairs(site)):
        yield Link("How true", published.TRUTH)
    if site.imported:
        yield Link("Imported", evidence.IMPORTED)
    if site.history.changes:
        yield Link("What moved", changes.PATH)
