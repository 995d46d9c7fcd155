"""The tables of all suites: what the catalogue states of each, and the protocols that are known.

`PYTHONPATH=tests .venv/bin/python -m support.suite_tables` writes them anew; rows of earlier versions stay.
"""

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from support.official_data import official_store
from triathlon_runner.catalogue import entries
from triathlon_runner.datasets import DataStore
from triathlon_runner.records import ProtocolHashes, known_protocols

TABLE: Final = Path(__file__).with_suffix(".csv")
SAME_NAME: Final = ("id", "discipline", "core", "variant_of", "variant_kind", "seeds", "transformation")
REMEDY: Final = "is this meant? `PYTHONPATH=tests python -m support.suite_tables` writes the table anew"


def stated() -> list[dict[str, str]]:
    """What the catalogue states of each suite, but for its metrics."""
    return [
        {name: str(getattr(entry, name)) for name in SAME_NAME}
        | {
            "record": entry.record.__name__,
            "quick_tasks": str(entry.quick_tasks if entry.in_quick else ""),
            "samples": str(entry.default_samples),
            "temperature": str(entry.sampling.temperature),
            "averaged": str(entry.averaged),
        }
        for entry in entries()
    ]


def todays_protocols(store: DataStore, *, core_alone: bool = False) -> dict[tuple[str, str], ProtocolHashes]:
    """By suite and an empty hash, the protocol of every suite of the catalogue."""
    chosen = (entry for entry in entries() if entry.core or not core_alone)
    return {(entry.id, ""): ProtocolHashes.of(entry.build(store).protocol) for entry in chosen}


def _write(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    _write(TABLE, stated())
    earlier = {key: hashes for key, hashes in known_protocols().items() if key[1]}
    known = sorted({**earlier, **todays_protocols(official_store())}.items())
    _write(
        Path(str(files("triathlon_runner.records") / "known_protocols.csv")),
        [{"suite": suite, "before": before, **hashes.model_dump()} for (suite, before), hashes in known],
    )
