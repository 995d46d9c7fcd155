"""`results/history.json`: what the last recorded build found and what changed at those before it.

A build reads it and writes it only where `triathlon build --history` asks for that.
"""

import uuid
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.records import Strict
from triathlon_runner.store import replace_file
from triathlon_site.history._changes import Change, changes_between
from triathlon_site.history._snapshot import Snapshot
from triathlon_site.load import Notice

HISTORY_FILE: Final = "history.json"
KEPT: Final = 100
"""Changes remembered; older ones are dropped."""
_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "triathlon-leaderboard changes")


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
        text = "\n".join((date, version, *(event.model_dump_json() for event in events)))
        change = Change(id=uuid.uuid5(_NAMESPACE, text).urn, date=date, version=version, events=events)
        older = (change_before.shortened() for change_before in self.changes[: KEPT - 1])
        return History(last=snapshot, changes=(change, *older))


def read_history(results: Path) -> tuple[History, list[Notice]]:
    """Reads the history; empty where the file is missing, or unreadable: then a notice says why."""
    try:
        return History.model_validate_json((results / HISTORY_FILE).read_bytes()), []
    except FileNotFoundError:
        return History(), []
    except (OSError, ValueError) as error:
        message = f"cannot be read ({type(error).__name__}): what moved begins anew"
        return History(), [Notice(file=HISTORY_FILE, message=message)]


def history_text(history: History) -> str:
    """The content of the file: one line of JSON."""
    return history.model_dump_json(by_alias=True, exclude_defaults=True) + "\n"


def write_history(results: Path, history: History) -> None:
    """Written only where it differs.

    Raises:
        OSError: what is there cannot be read.
        UserError: the folder cannot be written; the site is complete without.
    """
    text = history_text(history)
    path = results / HISTORY_FILE
    if not path.exists() or path.read_bytes() != text.encode():
        replace_file(path, text)
