"""The changes since the last builds: a page and an Atom feed."""

from collections.abc import Iterator
from typing import Any, Final

from triathlon_site.history import Change
from triathlon_site.models import printable
from triathlon_site.pages._site import Gathered
from triathlon_site.render import Draft
from triathlon_site.scores import plan_boards

PATH: Final = "changes.html"
FEED: Final = "changes.xml"
FEED_ID: Final = "urn:uuid:827f5f21-d8f3-5098-b38f-219a0cfbf5fe"
FEW: Final = 8  # moves on a board up to which they are listed; more are folded
OVERALL: Final = {
    "overall-core": "overall",
    "overall-official": "overall (official data)",
    "overall-added": "overall (added data)",
}


def drafts(site: Gathered) -> Iterator[Draft]:
    """The page of changes, and its feed; nothing before the first change."""
    if site.history.changes:
        entries = [_entry(site, change) for change in site.history.changes]
        yield Draft(PATH, "changes/page", {"entries": entries, "feed": FEED, "few": FEW})
        yield Draft(FEED, "changes/feed", {"entries": entries, "feed_id": FEED_ID})


def _entry(site: Gathered, change: Change) -> dict[str, Any]:
    """One build's changes: by title of a board, a line a model whose place there changed."""
    titles = OVERALL | {b.id: f"{b.discipline} ({b.title})" for b in plan_boards(site.known.entries())}
    moves = {
        titles.get(board, board): [_line(site, model, became(*ranks)) for model, ranks in moved.items()]
        for board, moved in change.moves.items()
    }
    return {"change": change, "moves": moves}


def _line(site: Gathered, model: str, text: str) -> tuple[str, str, str]:
    """The model's name, its page (empty for a model that is gone), and what is said of it."""
    name = site.models[model].label if model in site.models else printable(model)
    return name, site.models[model].page if model in site.results.models else "", text


def became(old: int | None, new: int | None) -> str:
    """What became of a model's place, in words; 0 where it has no rank, None where it is not on the board."""
    if old is None:
        return f"is new, at rank {new}" if new else "is new"
    if new is None:
        return "is gone"
    if not old:
        return f"is ranked now, at {new}"
    return f"from rank {old} to {new}" if new else "has no rank any more"
