"""The table of known protocols.

`PYTHONPATH=tests .venv/bin/python -m support.protocols` writes the rows of today's suites anew.
"""

import csv
import io
from importlib.resources import files
from pathlib import Path
from typing import Final

from support.official_data import official_store
from triathlon_runner.catalogue import entries
from triathlon_runner.datasets import DataStore
from triathlon_runner.records import ProtocolHashes, known_protocols

Table = dict[tuple[str, str], ProtocolHashes]
HEAD: Final = ("suite", "before", "asked", "graded")


def todays_protocols(store: DataStore) -> Table:
    """By suite and an empty hash, the protocol of every suite of the catalogue."""
    return {(entry.id, ""): ProtocolHashes.of(entry.build(store).protocol) for entry in entries()}


def rewrite() -> None:
    """Replaces the rows of today's suites; those of earlier versions stay."""
    kept = {key: hashes for key, hashes in known_protocols().items() if key[1]}
    path = Path(str(files("triathlon_runner.records") / "known_protocols.csv"))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    for (suite, before), hashes in sorted({**kept, **todays_protocols(official_store())}.items()):
        writer.writerow([suite, before, hashes.asked, hashes.graded])
    path.write_text(text.getvalue())


if __name__ == "__main__":
    rewrite()
