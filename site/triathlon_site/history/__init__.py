"""What moved from build to build: kept beside the results, shown as a page and a feed."""

from triathlon_site.history._changes import Change, Event, changes_between
from triathlon_site.history._file import HISTORY_FILE, History, history_text, read_history, write_history
from triathlon_site.history._snapshot import Place, Snapshot, SuiteState, snapshot_of

__all__ = [
    "HISTORY_FILE",
    "Change",
    "Event",
    "History",
    "Place",
    "Snapshot",
    "SuiteState",
    "changes_between",
    "history_text",
    "read_history",
    "snapshot_of",
    "write_history",
]
