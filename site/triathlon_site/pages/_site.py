"""The whole site as a list of pages, before anything is written."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from markupsafe import Markup

from triathlon_site.environment import Environment
from triathlon_site.exports import data_files, published_files
from triathlon_site.history import History
from triathlon_site.load import Archived, Notice, Results
from triathlon_site.pages import (
    _agreement,
    _changes,
    _compare,
    _compare_data,
    _data,
    _discipline,
    _imported,
    _method,
    _model,
    _overall,
    _published,
    _tasks,
)
from triathlon_site.pages._installed import PLOTLY, plotly_styles
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import SLOT, Draft, Link, Page, board_page, heading_of, slot
from triathlon_site.published import Published, published_boards
from triathlon_site.scores import Board, Overall

MODELS_A_SECTION: Final = 5


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
    url: str = ""
    """Where the site will be published, with a slash at its end; empty where that is not known."""

    @property
    def units(self) -> int:
        return sum(file.units for file in self.results.files)

    @property
    def notices(self) -> Sequence[Notice]:
        return self.results.notices


Section = Callable[[], Iterable[Draft | Page]]


class Rendering:
    """The pages and data files of a site, in sections that can be made apart from each other."""

    def __init__(self, site: Gathered, environment: Environment) -> None:
        self.site, self.environment = site, environment
        self._links = _links(site)
        self._navs: dict[tuple[str, tuple[bool, ...]], Markup] = {}
        self._frames: dict[tuple[str, str, str], list[bytes]] = {}
        self._sections = _sections(site)

    def __len__(self) -> int:
        """How many sections there are."""
        return len(self._sections)

    def section(self, number: int) -> Iterator[Page]:
        """The pages of one section."""
        for part in self._sections[number]():
            if isinstance(part, Page):
                yield part
            else:
                yield self._page(part)
                yield from part.files

    def _page(self, draft: Draft) -> Page:
        if not draft.slots:
            return Page(draft.path, self._rendered(draft))
        pieces = self._frame(draft)
        filled = [draft.slots[piece.decode()] if place % 2 else piece for place, piece in enumerate(pieces)]
        return Page(draft.path, "", b"".join(filled))

    def _frame(self, draft: Draft) -> list[bytes]:
        """What stands around the slots, with the names of these in between."""
        if draft.frame is None:
            return SLOT.split(self._rendered(draft).encode())
        key = draft.template, draft.path.rpartition("/")[0], draft.frame
        if key not in self._frames:
            self._frames[key] = SLOT.split(self._rendered(draft).encode())
        return self._frames[key]

    def _rendered(self, draft: Draft) -> str:
        root = "../" * draft.path.count("/")
        context: dict[str, Any] = {
            "root": root,
            "nav": self._nav(root, draft.path),
            "here": draft.path,
            "site": self.site,
            **{name: slot(name) for name in draft.slots},
            **draft.context,
        }
        return self.environment.render(draft.template, **context)

    def _nav(self, root: str, here: str) -> Markup:
        """The links to the main pages, rendered once for all that stand under the same one."""
        folder = here.partition("/")[0]
        current = tuple(here in link.also or link.path in (here, f"{folder}.html") for link in self._links)
        if (root, current) not in self._navs:
            links = list(zip(self._links, current, strict=True))
            self._navs[root, current] = Markup(
                self.environment.render("partials/nav", root=root, links=links)
            )
        return self._navs[root, current]


def render_site(site: Gathered, environment: Environment) -> Iterator[Page]:
    """Every page and data file, in a fixed order."""
    rendering = Rendering(site, environment)
    for number in range(len(rendering)):
        yield from rendering.section(number)


def _sections(site: Gathered) -> tuple[Section, ...]:
    """The page that the others are reached from first; models, of which there are many, a few at a time."""
    published, models = site.published, site.results.models
    return (
        lambda: _overall.drafts(site.overalls, site.models, site.results),
        *(partial(_board_section, site, board) for board in site.boards),
        lambda: _agreement.drafts(site.boards, site.models),
        lambda: _tasks.drafts(site.boards, site.models),
        lambda: _compare_section(site),
        lambda: _published_section(published) if published else iter(()),
        lambda: _imported.drafts(site.imported, site.models),
        lambda: _other_section(site),
        lambda: data_files(site.boards, site.overalls, site.models, site.notices),
        *(
            partial(_model_section, site, models[start : start + MODELS_A_SECTION])
            for start in range(0, len(models), MODELS_A_SECTION)
        ),
    )


def _board_section(site: Gathered, board: Board) -> Iterator[Draft]:
    yield _discipline.draft(board, site.boards, site.models)


def _model_section(site: Gathered, models: Sequence[str]) -> Iterator[Draft]:
    yield from _model.drafts(models, site.boards, site.overalls, site.models, site.results)


def _compare_section(site: Gathered) -> Iterator[Draft | Page]:
    if len(site.results.models) > 1:
        yield _compare.draft(site.boards, site.overalls, site.models, PLOTLY, plotly_styles())
    yield from _compare_data.files(site.boards, site.models)


def _published_section(published: Published) -> Iterator[Draft | Page]:
    yield from _published.drafts(published, published_boards(published))
    yield from published_files(published)


def _other_section(site: Gathered) -> Iterator[Draft]:
    yield from _method.drafts(site.boards, site.results)
    if site.boards:
        yield from _changes.drafts(site.history, site.boards, site.models, site.results.models)
    yield _data.draft(site.boards, site.overalls, site.notices, site.archived)


def _links(site: Gathered) -> list[Link]:
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
