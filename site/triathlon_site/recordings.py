"""Where recorded results come from, how many verdicts equal the authors', and why the others do not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import floor
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.records import RECORDED, Receipt
from triathlon_site.csv_file import read_table
from triathlon_site.load import FileAggregate, Results
from triathlon_site.models import Models

DIFFERENCES: Final = "differences.csv"
"""In the folder of a source: every verdict of ours that its authors' is not, with its cause."""
CAUSES: Final = "causes.csv"
"""Columns cause, explanation: the causes that these files name."""
_COLUMNS: Final = ("model", "suite", "task", "samples", "recorded", "here", "cause")


@dataclass(frozen=True, slots=True)
class Difference:
    """One task whose verdict is another here, for all models of which it ends in the same way."""

    suite: str
    task: str
    models: tuple[str, ...]
    """As they are called."""
    samples: int
    """Answers with this difference, of all these models."""
    recorded: str
    """The authors' verdict; of a loop the loops sustained."""
    here: str
    cause: str


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """All recorded results of one source."""

    receipt: Receipt
    """Of one of its files: what it says of the source is the same in all."""
    files: int
    models: int
    compared: int
    """Answers and programs of which the authors published a verdict."""
    equal: int
    differences: tuple[Difference, ...]
    """Those with a cause, by suite and task."""

    @property
    def share(self) -> str:
        """Share of equal verdicts; rounded down, so that 100 % means all."""
        return f"{floor(10_000 * self.equal / self.compared) / 100:.2f} %" if self.compared else ""

    @property
    def differing(self) -> int:
        """Verdicts that differ, as the rows list them."""
        return sum(one.samples for one in self.differences)

    @property
    def unexplained(self) -> int:
        """Differing verdicts that no row gives a cause for."""
        return max(0, self.compared - self.equal - self.differing)


@dataclass(frozen=True, slots=True)
class Recordings:
    """All sources of recorded results."""

    sources: tuple[RecordedSource, ...] = ()
    causes: Mapping[str, str] = field(default_factory=dict)
    """What each cause of a difference means, by its name."""


def read_recordings(folder: Path, results: Results, models: Models) -> Recordings:
    """Returns the sources of the recorded results, by their ids, with the causes of all differences.

    Args:
        folder: the folder of results.
        results: what was read from it.
        models: what models are called, by id.

    Raises:
        UserError: a table of differences or causes cannot be read, or names a cause without an explanation.
    """
    path = folder / RECORDED / CAUSES
    rows = read_table(path, ("cause", "explanation")) if path.exists() else ()
    causes = {row["cause"]: row["explanation"] for row in rows}
    files: dict[str, list[FileAggregate]] = {}
    for file in results.files:
        if file.receipt:
            files.setdefault(file.receipt.source, []).append(file)
    sources = []
    for source, of_source in sorted(files.items()):
        receipts = [file.receipt for file in of_source if file.receipt]
        sources.append(
            RecordedSource(
                receipt=receipts[0],
                files=len(of_source),
                models=len({file.model for file in of_source}),
                compared=sum(receipt.compared for receipt in receipts),
                equal=sum(receipt.equal for receipt in receipts),
                differences=tuple(_differences(folder / RECORDED / source / DIFFERENCES, causes, models)),
            )
        )
    return Recordings(tuple(sources), causes)


def _differences(path: Path, causes: Mapping[str, str], models: Models) -> Iterator[Difference]:
    """The rows of one table; those of one task that say the same of several models are one."""
    groups: dict[tuple[str, str, str, str, str], list[tuple[str, int]]] = {}
    rows = read_table(path, _COLUMNS) if path.exists() else ()
    for line, row in enumerate(rows, start=2):
        fault = ""
        if row["cause"] not in causes:
            known = ", ".join(causes) or "none"
            fault = f"expected a cause that {CAUSES} explains, one of {known}; got {row['cause']!r}"
        elif not row["samples"].isdecimal():
            fault = f"expected a whole number of samples, got {row['samples']!r}"
        if fault:
            raise UserError(f"{path}, line {line}: {fault}")
        key = (row["suite"], row["task"], row["recorded"], row["here"], row["cause"])
        name = models[row["model"]].name if row["model"] in models else row["model"]
        groups.setdefault(key, []).append((name, int(row["samples"])))
    for (suite, task, recorded, here, cause), same in sorted(groups.items()):
        names = tuple(sorted({name for name, _ in same}, key=str.lower))
        yield Difference(suite, task, names, sum(count for _, count in same), recorded, here, cause)
