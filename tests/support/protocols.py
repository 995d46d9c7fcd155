"""The table of known protocols.

`PYTHONPATH=tests .venv/bin/python -m support.protocols` writes the rows of today's suites anew.
"""

import csv
from importlib.resources import files
from pathlib import Path

from support.official_data import official_store
from triathlon_runner.catalogue import entries
from triathlon_runner.datasets import DataStore
from triathlon_runner.records import ProtocolHashes, known_protocols


def todays_protocols(store: DataStore, *, core_alone: bool = False) -> dict[tuple[str, str], ProtocolHashes]:
    """By suite and an empty hash, the protocol of every suite of the catalogue."""
    chosen = (entry for entry in entries() if entry.core or not core_alone)
    return {(entry.id, ""): ProtocolHashes.of(entry.build(store).protocol) for entry in chosen}


def rewrite() -> None:
    """Replaces the rows of today's suites; those of earlier versions stay."""
    kept = {key: hashes for key, hashes in known_protocols().items() if key[1]}
    rows = sorted({**kept, **todays_protocols(official_store())}.items())
    path = Path(str(files("triathlon_runner.records") / "known_protocols.csv"))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("suite", "before", "asked", "graded"))
        writer.writerows([*key, hashes.asked, hashes.graded] for key, hashes in rows)


if __name__ == "__main__":
    rewrite()
