"""What moved from build to build: kept in `results/history.json`, shown as a page and a feed.

A build reads the file and writes it only where `triathlon build --history` asks for that.
"""

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.records import Strict
from triathlon_runner.store import replace_file
from triathlon_site.load import Notice, Results
from triathlon_site.scores import Board, Overall

HASH_DIGITS: Final = 16
"""Digits of a hash: enough to distinguish two states of one file."""
Kind = Literal["new model", "gone model", "new results", "gone results", "changed protocol"]
HISTORY_FILE: Final = "history.json"
KEPT: Final = 20
"""Changes remembered; older ones are dropped."""
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "triathlon-leaderboard changes")


class SuiteState(Strict):
    """One file of results."""

    protocol: str
    sha256: str
    """The first `HASH_DIGITS` digits of the file's."""


class Snapshot(Strict):
    """Everything that changes are computed from."""

    ranks: dict[str, dict[str, int]]
    """By board (`overall-core` for an overall one) and model."""
    suites: dict[str, dict[str, SuiteState]]
    """By model and suite."""


def snapshot_of(results: Results, boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Snapshot:
    """The places that pages say of models, and the states of all files that count."""
    ranks = {f"overall-{family}": {r.model: r.rank for r in of.rows} for family, of in overalls.items()}
    shown = [board for board in boards if board.headline.has_ranks]
    ranks |= {b.plan.id: {m: score.rank for m, score in b.headline.scores.items()} for b in shown}
    known = {board: {m: rank.rank for m, rank in of.items() if rank} for board, of in ranks.items()}
    suites: dict[str, dict[str, SuiteState]] = {}
    for file in results.files:
        if file.units:
            state = SuiteState(protocol=str(file.protocol), sha256=file.sha256[:HASH_DIGITS])
            suites.setdefault(file.model, {})[file.suite] = state
    return Snapshot(ranks=known, suites=suites)


class Event(Strict):
    """One thing that happened to the results of one model."""

    kind: Kind
    model: str
    suites: tuple[str, ...] = ()
    """What is new, is gone or was asked under another protocol."""


Moves = dict[str, dict[str, tuple[int, int]]]
"""By board and model, ranks before and after of the models that both builds rank, the best now first."""


class Change(Strict):
    """All changes that one build found."""

    id: str
    """A URN: readers of the feed know it by this."""
    date: str
    """Day of the newest result; where that is withdrawn, of the change before."""
    version: str
    events: tuple[Event, ...]
    moves: Moves


def events_between(before: Snapshot, after: Snapshot) -> tuple[Event, ...]:
    """Models first, then results and protocols; each in the order of names."""
    new_models, gone = after.suites.keys() - before.suites.keys(), before.suites.keys() - after.suites.keys()
    events = [
        Event(kind="new model", model=model, suites=tuple(sorted(after.suites[model])))
        for model in sorted(new_models)
    ]
    events += [Event(kind="gone model", model=model) for model in sorted(gone)]
    for model in sorted(after.suites.keys() & before.suites.keys()):
        old, new = before.suites[model], after.suites[model]
        changed = {suite for suite in new if new[suite] != old.get(suite)}
        asked_anew = {suite for suite in changed & old.keys() if new[suite].protocol != old[suite].protocol}
        kinds: dict[Kind, Collection[str]] = {
            "changed protocol": asked_anew,
            "new results": changed - asked_anew,
            "gone results": old.keys() - new.keys(),
        }
        events += [
            Event(kind=kind, model=model, suites=tuple(sorted(suites)))
            for kind, suites in kinds.items()
            if suites
        ]
    return tuple(events)


def moves_between(before: Snapshot, after: Snapshot) -> Moves:
    """The ranks that changed, of the boards on which some did."""
    moves = {}
    for board in sorted(after.ranks.keys() & before.ranks.keys()):
        old, new = before.ranks[board], after.ranks[board]
        best_first = sorted(old.keys() & new.keys(), key=lambda model: (new[model], model))
        if moved := {model: (old[model], new[model]) for model in best_first if old[model] != new[model]}:
            moves[board] = moved
    return moves


class History(Strict):
    """The last build, and what moved at each."""

    schema_version: Literal[2] = 2
    last: Snapshot | None = None
    changes: tuple[Change, ...] = ()
    """The newest first."""

    def after(self, snapshot: Snapshot, date: str, version: str) -> "History":
        """The history with the changes since the last build; the first build has none to compare with."""
        if self.last is None or snapshot == self.last:
            return self if self.last else History(last=snapshot)
        events, moves = events_between(self.last, snapshot), moves_between(self.last, snapshot)
        if not events and not moves:
            return History(last=snapshot, changes=self.changes)
        before = [change.id for change in self.changes[:1]]  # the same may happen twice, on the same day
        date = max([date, *(change.date for change in self.changes[:1])])
        text = json.dumps([date, version, before, [event.model_dump() for event in events], moves])
        urn = uuid.uuid5(_NAMESPACE, text).urn
        change = Change(id=urn, date=date, version=version, events=events, moves=moves)
        return History(last=snapshot, changes=(change, *self.changes[: KEPT - 1]))


def read_history(results: Path) -> tuple[History, list[Notice]]:
    """Reads the history; empty where the file is missing, or unreadable: then a notice says why."""
    path = results / HISTORY_FILE
    try:
        return History() if path.is_symlink() else History.model_validate_json(path.read_bytes()), []
    except FileNotFoundError:
        return History(), []
    except (OSError, ValueError) as error:
        message = (
            f"cannot be read ({type(error).__name__}): restore it (of a merge take one side), or a"
            " build with --history (without --strict) begins anew and forgets what moved before"
        )
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
