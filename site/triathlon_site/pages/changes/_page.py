"""The changes since the last builds: a page and an Atom feed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_site.history import Change, Event, History
from triathlon_site.models import ModelInfo, printable
from triathlon_site.render import Draft, PageContext
from triathlon_site.scores import Board

FEED: Final = "changes.xml"
FEED_ID: Final = "urn:uuid:827f5f21-d8f3-5098-b38f-219a0cfbf5fe"
MOST_NAMED: Final = 6
"""Suites or models named in a sentence."""
FEW: Final = 8
"""Up to this many changes of rank that other models caused are listed with all events; more are folded."""


@dataclass(frozen=True)
class Line:
    """One event as a sentence behind the model's name."""

    kind: str
    name: str
    page: str
    """Empty for a model that is gone."""
    text: str


@dataclass(frozen=True)
class Entry:
    """One build's changes."""

    id: str
    date: str
    version: str
    lines: tuple[Line, ...]
    pushed: int = 0
    """Number of folded changes of rank that other models caused: one new model moves all below it."""
    pushed_lines: tuple[Line, ...] = ()
    """The folded changes; empty in older entries, of which the history has the number only."""


@dataclass(frozen=True)
class ChangesContext(PageContext):
    """The template's data for the page of changes."""

    template: ClassVar[str] = "changes/page"
    entries: list[Entry]
    """The newest first."""
    feed: str


@dataclass(frozen=True)
class FeedContext(PageContext):
    """The template's data for the Atom feed."""

    template: ClassVar[str] = "changes/feed"
    entries: list[Entry]
    feed_id: str


def drafts(
    history: History, boards: Sequence[Board], models: Mapping[str, ModelInfo], measured: Sequence[str]
) -> Iterator[Draft]:
    """The page of changes, and its feed; `measured` are the models that have a page."""
    titles = {board.plan.id: f"{board.plan.discipline} ({board.plan.title})" for board in boards}
    entries = [_entry(change, titles, models, measured) for change in history.changes]
    yield Draft("changes.html", ChangesContext(entries, FEED))
    yield Draft(FEED, FeedContext(entries, FEED_ID))


def _entry(
    change: Change,
    titles: Mapping[str, str],
    models: Mapping[str, ModelInfo],
    measured: Sequence[str],
) -> Entry:
    def line(event: Event) -> Line:
        info = models.get(event.model)
        return Line(
            event.kind,
            info.name if info else printable(event.model),
            info.page if info and event.model in measured else "",
            _sentence(event, titles, models),
        )

    by_others = [event for event in change.events if event.by_others]
    folded = by_others if len(by_others) > FEW else []
    listed = [event for event in change.events if not (folded and event.by_others)]
    return Entry(
        change.id,
        change.date,
        change.version,
        tuple(map(line, sorted(listed, key=_weight))),
        len(folded) + change.dropped,
        tuple(map(line, folded)),
    )


def _weight(event: Event) -> int:
    """Sort key: changes of rank last, of these the largest first."""
    return -abs(event.after - event.before) if event.kind == "moved" else -(10**9)


def _sentence(event: Event, titles: Mapping[str, str], models: Mapping[str, ModelInfo]) -> str:
    if event.kind == "moved":
        overall = {"overall-core": "overall", "overall-official": "overall (official data)"}
        board = overall.get(event.board) or titles.get(event.board, event.board)
        names = [models[rival].name if rival in models else printable(rival) for rival in event.passed_by]
        passed = f", passed by {_listed(names, 'models', event.passed_by_more)}" if names else ""
        return f"{board}: from rank {event.before} to {event.after}{passed}; {event.why}"
    return {
        "new model": f"is new, with {_listed(event.suites)}",
        "gone model": "has no results any more",
        "new results": f"has new results in {_listed(event.suites)}",
        "changed protocol": f"was asked under another protocol in {_listed(event.suites)}",
    }[event.kind]


def _listed(names: Sequence[str], noun: str = "suites", more: int = 0) -> str:
    """`A, B and 4 other suites`; `more` is the number of names that are not in the list."""
    text = ", ".join(names[:MOST_NAMED])
    unnamed = max(0, len(names) - MOST_NAMED) + more
    return f"{text} and {unnamed} other {noun}" if unnamed else text
