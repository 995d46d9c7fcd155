"""The table of all suites: `PYTHONPATH=tests .venv/bin/python -m support.suites` writes it anew."""

import csv
from pathlib import Path
from typing import Final

from triathlon_runner.catalogue import entries
from triathlon_runner.suites import SuiteEntry

TABLE: Final = Path(__file__).with_suffix(".csv")


def row_of(entry: SuiteEntry) -> dict[str, str]:
    """What the catalogue states of a suite, but for its metrics."""
    values = {
        "id": entry.id,
        "discipline": entry.discipline,
        "record": entry.record.__name__,
        "core": entry.core,
        "quick_tasks": entry.quick_tasks if entry.in_quick else "",
        "variant_of": entry.variant_of or "",
        "variant_kind": entry.variant_kind or "",
        "samples": entry.default_samples,
        "temperature": entry.sampling.temperature,
        "seeds": entry.seeds or "",
        "transformation": entry.transformation,
        "averaged": entry.averaged,
    }
    return {name: str(value) for name, value in values.items()}


if __name__ == "__main__":
    written = list(map(row_of, entries()))
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(written[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(written)
