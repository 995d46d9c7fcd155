"""The changes since the last builds: a page and an Atom feed."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from triathlon_site.history import Change, Event
from triathlon_site.models import printable
from triathlon_site.pages._site import Gathered
from triathlon_site.render import Draft

PATH: Final = "changes.html"
FEED: Final = "changes.xml"
FEED_ID: Final = "urn:uuid:827f5f21-d8f3-5098-b38f-219a0cfbf5fe"
MOST_NAMED: Final = 6  # suites or models named in a sentence
FEW: Final = 8
"""Up to this many moves of models whose own results did not change are listed with all events; more are
folded."""
Line = tuple[str, str, str, str]
"""One event: its kind, the model's name, its page (empty for a model that is gone), and a sentence of it."""


def drafts(site: Gathered) -> Iterator[Draft]:
    """The page of changes, and its feed; nothing before the first change."""
    if site.history.changes:
        entries = [_entry(site, change) for change in site.history.changes]
        yield Draft(PATH, "changes/page", {"entries": entries, "feed": FEED})
        yield Draft(FEED, "changes/feed", {"entries": entries, "feed_id": FEED_ID})


def _entry(site: Gathered, change: Change) -> dict[str, Any]:
    """One build's changes; one new model moves all below it, so that many of these moves are folded."""
    own, pushed = change.parts()
    listed, folded = (own, pushed) if len(pushed) > FEW else ([*change.events], [])
    # changes of rank last, of these the largest first
    listed.sort(key=lambda event: (1, -abs(event.after - event.before)) if event.kind == "moved" else (0, 0))
    return {
        "change": change,
        "lines": [_line(site, event) for event in listed],
        # of older entries the history has the number of folded changes only
        "pushed": len(folded) + change.dropped,
        "pushed_lines": [_line(site, event) for event in folded],
    }


def _line(site: Gathered, event: Event) -> Line:
    page = site.models[event.model].page if event.model in site.results.models else ""
    return event.kind, _name(site, event.model), page, _sentence(site, event)


def _name(site: Gathered, model: str) -> str:
    return site.models[model].name if model in site.models else printable(model)


def _sentence(site: Gathered, event: Event) -> str:
    if event.kind == "moved":
        titles = {
            "overall-core": "overall",
            "overall-official": "overall (official data)",
            "overall-added": "overall (added data)",
        }
        titles |= {b.plan.id: f"{b.plan.discipline} ({b.plan.title})" for b in site.boards}
        names = [_name(site, rival) for rival in event.passed_by]
        passed = f", passed by {_listed(names, 'models', event.passed_by_more)}" if names else ""
        place = f"from rank {event.before} to {event.after}"
        return f"{titles.get(event.board, event.board)}: {place}{passed}"
    return {
        "new model": f"is new, with {_listed(event.suites)}",
        "gone model": "has no results any more",
        "gone results": f"has no results any more in {_listed(event.suites)}",
        "new results": f"has new results in {_listed(event.suites)}",
        "changed protocol": f"was asked under another protocol in {_listed(event.suites)}",
    }[event.kind]


def _listed(names: Sequence[str], noun: str = "suites", more: int = 0) -> str:
    """`A, B and 4 other suites`; `more` is the number of names that are not in the list."""
    text = ", ".join(names[:MOST_NAMED])
    unnamed = max(0, len(names) - MOST_NAMED) + more
    return f"{text} and {unnamed} other {noun}" if unnamed else text
