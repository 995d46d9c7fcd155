"""The table of all suites: `PYTHONPATH=tests .venv/bin/python -m support.suites` writes it anew."""

import csv
from pathlib import Path
from typing import Final

from triathlon_runner.catalogue import entries
from triathlon_runner.suites import SuiteEntry

TABLE: Final = Path(__file__).with_suffix(".csv")


COLUMNS: Final = (
    *("id", "discipline", "core", "quick_tasks", "in_quick", "variant_of", "variant_kind"),
    *("default_samples", "seeds", "transformation", "averaged"),
)


def row_of(entry: SuiteEntry) -> dict[str, str]:
    """What the catalogue states of a suite, but for its metrics; empty where that is no or none."""
    row = {name: str(getattr(entry, name) or "") for name in COLUMNS}
    return row | {"record": entry.record.__name__, "temperature": str(entry.sampling.temperature)}


if __name__ == "__main__":
    written = list(map(row_of, entries()))
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(written[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(written)
