"""What moved from build to build: kept in `results/history.json`, shown as a page and a feed.

A build reads the file and writes it only where `triathlon build --history` asks for that.
"""

import json
import math
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.records import Strict
from triathlon_runner.store import replace_file
from triathlon_site.load import Notice
from triathlon_site.scores import Board, Overall

HISTORY_FILE: Final = "history.json"
KEPT: Final = 20
"""Changes remembered; older ones are dropped."""
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "triathlon-leaderboard changes")


class Snapshot(Strict):
    """Everything that changes are computed from."""

    ranks: dict[str, dict[str, int]]
    """By board (`overall-core` for an overall one) and model; 0 where pages say no rank."""


def snapshot_of(boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Snapshot:
    """The models of every board, and the places that pages say of them."""
    ranks = {f"overall-{family}": {r.model: r.rank for r in of.rows} for family, of in overalls.items()}
    for board in boards:
        shown = {model: board.headline.shown(model) for model in board.models}
        ranks[board.plan.id] = {model: score.rank if score else None for model, score in shown.items()}
    places = {board: {m: rank.rank if rank else 0 for m, rank in of.items()} for board, of in ranks.items()}
    return Snapshot(ranks=places)


Moves = dict[str, dict[str, tuple[int | None, int | None]]]
"""By board and model, ranks before and after, the best now first; None where it is not there."""


class Change(Strict):
    """All changes that one build found."""

    id: str
    """A URN: readers of the feed know it by this."""
    date: str
    """Day of the newest result; where that is withdrawn, of the change before."""
    version: str
    moves: Moves


def moves_between(before: Snapshot, after: Snapshot) -> Moves:
    """The ranks that changed, of the boards on which some did."""
    moves = {}
    for board in sorted(before.ranks.keys() | after.ranks.keys()):
        old, new = before.ranks.get(board, {}), after.ranks.get(board, {})
        best_first = sorted(old.keys() | new.keys(), key=lambda model: (new.get(model) or math.inf, model))
        ranks = {model: (old.get(model), new.get(model)) for model in best_first}
        if moved := {model: pair for model, pair in ranks.items() if pair[0] != pair[1]}:
            moves[board] = moved
    return moves


class History(Strict):
    """The last build, and what moved at each."""

    schema_version: Literal[3] = 3
    last: Snapshot | None = None
    changes: tuple[Change, ...] = ()
    """The newest first."""

    def after(self, snapshot: Snapshot, date: str, version: str) -> "History":
        """The history with the changes since the last build; the first build has none to compare with."""
        moves = moves_between(self.last, snapshot) if self.last else {}
        if not moves:
            return History(last=snapshot, changes=self.changes)
        before = [change.id for change in self.changes[:1]]  # the same may happen twice, on the same day
        date = max([date, *(change.date for change in self.changes[:1])])
        text = json.dumps([date, version, before, moves])
        urn = uuid.uuid5(_NAMESPACE, text).urn
        change = Change(id=urn, date=date, version=version, moves=moves)
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
