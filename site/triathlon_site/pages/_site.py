"""The whole site as a list of pages, before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triathlon_site.history import History
from triathlon_site.load import Notice, Results
from triathlon_site.pages import (
    _agreement,
    _changes,
    _compare,
    _data,
    _discipline,
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

    @property
    def notices(self) -> Sequence[Notice]:
        return self.results.notices


def render_site(site: Gathered, environment: Environment) -> Iterator[Page]:
    """Every page and data file, in a fixed order."""
    nav = _nav(site)
    for draft in _drafts(site):
        depth = draft.path.count("/")
        context: dict[str, Any] = {
            "root": "../" * depth,
            "nav": nav,
            "here": draft.path,
            "site": site,
            **draft.context,
        }
        yield Page(draft.path, environment.render(draft.template, **context))
        yield from draft.files
    yield from _data.files(site.boards, site.overalls, site.models, site.notices)
    yield from _compare.files(site.boards, site.models)
    if site.published:
        yield from _data.published_files(site.published)


def _drafts(site: Gathered) -> Iterator[Draft]:
    yield from _overall.drafts(site.overalls, site.models, site.results)
    for board in site.boards:
        yield _discipline.draft(board, site.boards, site.models)
    if len(site.results.models) > 1:
        yield _compare.draft(site.boards, PLOTLY, plotly_styles())
    yield from _agreement.drafts(site.boards, site.models)
    yield from _tasks.drafts(site.boards, site.models)
    yield from _model.drafts(site.boards, site.overalls, site.models, site.results)
    if site.published:
        yield from _published.drafts(site.published, published_boards(site.published))
    yield from _method.drafts(site.boards, site.results)
    if site.boards:
        yield from _changes.drafts(site.history, site.boards, site.models, site.results.models)
    yield _data.draft(site.boards, site.overalls, site.notices)


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
    return [*links, Link("Method", "method.html", ("prompts.html",)), Link("Data", "data.html")]
