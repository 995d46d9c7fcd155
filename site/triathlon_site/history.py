"""What moved from build to build: kept in `results/history.json`, shown as a page and a feed.

A build reads the file and writes it only where `triathlon build --history` asks for that.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.records import Strict
from triathlon_runner.store import replace_file
from triathlon_site.load import Notice, Results
from triathlon_site.scores import Board, Overall

HASH_DIGITS: Final = 16
"""Digits of a hash: enough to distinguish two states of one file."""
Kind = Literal["new model", "gone model", "new results", "gone results", "changed protocol", "moved"]
NAMED_MODELS: Final = 6
"""Models that an event names; more are counted."""
HISTORY_FILE: Final = "history.json"
KEPT: Final = 100
"""Changes remembered; older ones are dropped."""
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "triathlon-leaderboard changes")


class Place(Strict):
    """One model on one board."""

    rank: int
    of: int
    """Models that the board ranks."""


class SuiteState(Strict):
    """One file of results."""

    protocol: str
    sha256: str
    """The first `HASH_DIGITS` digits of the file's."""
    tasks: int


class Snapshot(Strict):
    """Everything that changes are computed from."""

    places: dict[str, dict[str, Place]]
    """By board (`overall-core` for an overall one) and model."""
    suites: dict[str, dict[str, SuiteState]]
    """By model and suite."""


def snapshot_of(results: Results, boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Snapshot:
    """The places of all models, and the states of all files that count."""
    ranks = {f"overall-{family}": {r.model: r.rank for r in of.rows} for family, of in overalls.items()}
    ranks |= {b.plan.id: {m: score.rank for m, score in b.headline.scores.items()} for b in boards}
    places = {}
    for board, of_board in ranks.items():
        known = {model: rank.rank for model, rank in of_board.items() if rank}
        places[board] = {model: Place(rank=rank, of=len(known)) for model, rank in known.items()}
    suites: dict[str, dict[str, SuiteState]] = {}
    for file in results.files:
        if file.units:
            digits = file.sha256[:HASH_DIGITS]
            state = SuiteState(protocol=str(file.protocol), sha256=digits, tasks=file.units)
            suites.setdefault(file.model, {})[file.suite] = state
    return Snapshot(places=places, suites=suites)


class Event(Strict, extra="ignore"):
    """One thing that happened to one model. Files of older versions have more fields, which are left out."""

    kind: Kind
    model: str
    board: str = ""
    """The board on which it moved."""
    before: int = 0
    after: int = 0
    suites: tuple[str, ...] = ()
    """What is new, is gone or was asked under another protocol."""
    passed_by: tuple[str, ...] = ()
    """Models that stand above it now and did not before, for one that fell: `NAMED_MODELS` at most."""
    passed_by_more: int = 0
    """Number of such models that `passed_by` leaves out."""


class Change(Strict):
    """All changes that one build found."""

    id: str
    """A URN that stays the same when the change is shortened: readers of the feed know it by this."""
    date: str
    """Day of the newest result."""
    version: str
    events: tuple[Event, ...]
    dropped: int = 0
    """Number of moves of models that were pushed, which are no longer listed."""

    def parts(self) -> tuple[list[Event], list[Event]]:
        """The events of models whose own results changed, and the moves of those that were pushed: one new
        model causes many on every board.
        """
        changed = {event.model for event in self.events if event.kind != "moved"}
        own = [event for event in self.events if event.model in changed]
        return own, [event for event in self.events if event.model not in changed]

    def shortened(self) -> "Change":
        """Without the moves of models that were pushed: they are counted."""
        own, pushed = self.parts()
        return self.model_copy(update={"events": tuple(own), "dropped": self.dropped + len(pushed)})


def changes_between(before: Snapshot, after: Snapshot) -> tuple[Event, ...]:
    """Models first, then results and protocols, then places; each in the order of names."""
    new_models, gone = after.suites.keys() - before.suites.keys(), before.suites.keys() - after.suites.keys()
    events = [
        Event(kind="new model", model=model, suites=tuple(sorted(after.suites[model])))
        for model in sorted(new_models)
    ]
    events += [Event(kind="gone model", model=model) for model in sorted(gone)]
    for model in sorted(after.suites.keys() & before.suites.keys()):
        old, new = before.suites[model], after.suites[model]
        asked_anew = tuple(s for s in sorted(new) if s in old and new[s].protocol != old[s].protocol)
        others = sorted(new.keys() - set(asked_anew))
        added = tuple(s for s in others if s not in old or new[s].sha256 != old[s].sha256)
        if asked_anew:
            events.append(Event(kind="changed protocol", model=model, suites=asked_anew))
        if added:
            events.append(Event(kind="new results", model=model, suites=added))
        if lost := tuple(sorted(old.keys() - new.keys())):
            events.append(Event(kind="gone results", model=model, suites=lost))
    for board in sorted(after.places.keys() & before.places.keys()):
        events += _moves(board, before.places[board], after.places[board])
    return tuple(events)


def _moves(board: str, old: Mapping[str, Place], new: Mapping[str, Place]) -> Iterator[Event]:
    """Rank changes of models ranked in both builds, with the models that overtook one that fell."""
    by_rank = sorted(new, key=lambda model: (new[model].rank, model))
    for model in by_rank:
        if model not in old or new[model].rank == old[model].rank:
            continue
        passed_by = [
            rival
            for rival in by_rank
            if new[model].rank > old[model].rank
            and (rival not in old or old[rival].rank >= old[model].rank)
            and new[rival].rank < new[model].rank
        ]
        yield Event(
            kind="moved",
            model=model,
            board=board,
            before=old[model].rank,
            after=new[model].rank,
            passed_by=tuple(passed_by[:NAMED_MODELS]),
            passed_by_more=max(0, len(passed_by) - NAMED_MODELS),
        )


class History(Strict):
    """The last build, and what moved at each."""

    schema_version: Literal[1] = 1
    last: Snapshot | None = None
    changes: tuple[Change, ...] = ()
    """The newest first."""

    def after(self, snapshot: Snapshot, date: str, version: str) -> "History":
        """The history with the changes since the last build; the first build has none to compare with."""
        if self.last is None or snapshot == self.last:
            return self if self.last else History(last=snapshot)
        events = changes_between(self.last, snapshot)
        if not events:
            return History(last=snapshot, changes=self.changes)
        before = [change.id for change in self.changes[:1]]  # the same may happen twice, on the same day
        text = "\n".join((date, version, *before, *(event.model_dump_json() for event in events)))
        change = Change(id=uuid.uuid5(_NAMESPACE, text).urn, date=date, version=version, events=events)
        older = (change_before.shortened() for change_before in self.changes[: KEPT - 1])
        return History(last=snapshot, changes=(change, *older))


def read_history(results: Path) -> tuple[History, list[Notice]]:
    """Reads the history; empty where the file is missing, or unreadable: then a notice says why."""
    path = results / HISTORY_FILE
    try:
        return History() if path.is_symlink() else History.model_validate_json(path.read_bytes()), []
    except FileNotFoundError:
        return History(), []
    except (OSError, ValueError) as error:
        message = f"cannot be read ({type(error).__name__}): what moved begins anew"
        return History(), [Notice(file=HISTORY_FILE, message=message)]


def write_history(results: Path, history: History) -> None:
    """Written only where it differs.

    Raises:
        OSError: what is there cannot be read.
        UserError: the folder cannot be written; the site is complete without.
    """
    text = history.model_dump_json(by_alias=True, exclude_defaults=True) + "\n"
    path = results / HISTORY_FILE
    if not path.exists() or path.read_bytes() != text.encode():
        replace_file(path, text)
