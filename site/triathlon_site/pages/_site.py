"""The whole site as a list of pages, before anything is written."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from triathlon_site.history import History
from triathlon_site.load import Archived, Notice, Results
from triathlon_site.pages import (
    _agreement,
    _changes,
    _compare,
    _data,
    _discipline,
    _imported,
    _method,
    _model,
    _overall,
    _published,
    _tasks,
)
from triathlon_site.pages._environment import PLOTLY, Environment, plotly_styles
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import Draft, Link, Page, board_page, heading_of
from triathlon_site.published import Published, published_boards
from triathlon_site.scores import Board, Overall

WORTH_A_PROCESS: Final = 20_000
"""Units of results below which starting more processes takes longer than rendering."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that pages are made of."""

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

    @property
    def notices(self) -> Sequence[Notice]:
        return self.results.notices


Section = Callable[[], Iterable[Draft | Page]]


@dataclass(frozen=True, slots=True)
class _Rendering:
    """What sections are rendered with."""

    site: Gathered
    environment: Environment
    nav: Sequence[Link]
    sections: tuple[Section, ...]


_rendering: _Rendering | None = None
"""For the forked workers: drafts are made of what does not travel between processes."""


def render_site(site: Gathered, environment: Environment, *, processes: int = 2) -> Iterator[Page]:
    """Every page and data file, in a fixed order; in several processes where there is much to render."""
    global _rendering  # noqa: PLW0603 (set before forking, so that the workers have it)
    _rendering = _Rendering(site, environment, _nav(site), _sections(site))
    places = range(len(_rendering.sections))
    much = sum(len(file.tasks) for file in site.results.files) >= WORTH_A_PROCESS
    if not much or processes < 2 or "fork" not in multiprocessing.get_all_start_methods():
        for place in places:
            yield from _render_section(place)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("fork")) as pool:
        for pages in pool.map(_render_section, places):
            yield from pages


def _render_section(place: int) -> list[Page]:
    assert _rendering is not None
    return [page for part in _rendering.sections[place]() for page in _pages(part, _rendering)]


def _pages(part: Draft | Page, rendering: _Rendering) -> Iterator[Page]:
    """A draft's page and the files that belong to it; a page as it is."""
    if isinstance(part, Page):
        yield part
        return
    context: dict[str, Any] = {
        "root": "../" * part.path.count("/"),
        "nav": rendering.nav,
        "here": part.path,
        "site": rendering.site,
        **part.context,
    }
    yield Page(part.path, rendering.environment.render(part.template, **context))
    yield from part.files


def _sections(site: Gathered) -> tuple[Section, ...]:
    """What can be made apart from each other, the page that the others are reached from first."""
    published = site.published
    return (
        lambda: _overall.drafts(site.overalls, site.models, site.results),
        *(partial(_board_section, site, board) for board in site.boards),
        lambda: _agreement.drafts(site.boards, site.models),
        lambda: _tasks.drafts(site.boards, site.models),
        lambda: _model.drafts(site.boards, site.overalls, site.models, site.results),
        lambda: _compare_section(site),
        lambda: _published_section(published) if published else iter(()),
        lambda: _imported.drafts(site.imported, site.models),
        lambda: _other_section(site),
        lambda: _data.files(site.boards, site.overalls, site.models, site.notices),
    )


def _board_section(site: Gathered, board: Board) -> Iterator[Draft]:
    yield _discipline.draft(board, site.boards, site.models)


def _compare_section(site: Gathered) -> Iterator[Draft | Page]:
    if len(site.results.models) > 1:
        yield _compare.draft(site.boards, site.overalls, site.models, PLOTLY, plotly_styles())
    yield from _compare.files(site.boards, site.models)


def _published_section(published: Published) -> Iterator[Draft | Page]:
    yield from _published.drafts(published, published_boards(published))
    yield from _data.published_files(published)


def _other_section(site: Gathered) -> Iterator[Draft]:
    yield from _method.drafts(site.boards, site.results)
    if site.boards:
        yield from _changes.drafts(site.history, site.boards, site.models, site.results.models)
    yield _data.draft(site.boards, site.overalls, site.notices, site.archived)


def _nav(site: Gathered) -> list[Link]:
    links = [Link("Overall", "index.html")]
    links += [
        Link(_overall.title(family), _overall.path(family, site.overalls))
        for family in list(site.overalls)[1:]
    ]
    for heading in dict.fromkeys(heading_of(board) for board in site.boards):
        pages = [board_page(board) for board in site.boards if heading_of(board) == heading]
        links.append(Link(heading.capitalize(), pages[0], tuple(pages)))
    if site.boards:
        links.append(Link("Tasks", "tasks.html"))
        links.append(Link("Agreement", "agreement.html"))
    if len(site.results.models) > 1:
        links.append(Link("Compare", "compare.html"))
    if site.published:
        links.append(Link("Published", "published.html"))
    if site.imported:
        links.append(Link("Imported", _imported.PATH))
    return [*links, Link("Method", "method.html", ("prompts.html", "core.html")), Link("Data", "data.html")]
