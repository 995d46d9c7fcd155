"""Where recorded results come from, how many verdicts equal the authors', and why the others do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from pathlib import Path
from typing import Any, Final

import pandas as pd

from triathlon_runner.errors import UserError
from triathlon_runner.records import RECORDED, Receipt
from triathlon_site.load import Results
from triathlon_site.models import Models, read_table

DIFFERENCES: Final = "differences.csv"
"""In the folder of a source: every verdict of ours that its authors' is not, with its cause."""
CAUSES: Final = "causes.csv"
"""Columns cause, explanation: the causes that these files name."""
_TASK: Final = ("suite", "task", "recorded", "here", "cause")
"""Columns in which rows of several models can be equal; `recorded` is the authors' verdict."""


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
    differences: Sequence[Mapping[str, Any]]
    """Those with a cause, by suite and task: the columns of `differences.csv` but `model`, and `models`, the
    names of all models of which a task ended in the same way; `samples` counts answers of all of these."""

    @property
    def share(self) -> str:
        """Share of equal verdicts; rounded down, so that 100 % means all."""
        return f"{floor(10_000 * self.equal / self.compared) / 100:.2f} %" if self.compared else ""

    @property
    def differing(self) -> int:
        """Verdicts that differ, as the rows list them."""
        return sum(one["samples"] for one in self.differences)

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
    """Returns the sources of the results recorded in a folder, by their ids, with the causes of differences.

    Raises:
        UserError: a table of differences or causes cannot be read, or names a cause without an explanation.
    """
    path = folder / RECORDED / CAUSES
    rows = read_table(path, ("cause", "explanation")) if path.exists() else ()
    causes = {row["cause"]: row["explanation"] for row in rows}
    recorded: dict[str, list[tuple[Receipt, str]]] = {}
    for file in (*results.files, *results.beside):
        if file.receipt:
            recorded.setdefault(file.receipt.source, []).append((file.receipt, file.model))
    sources = (
        RecordedSource(
            receipt=files[0][0],
            files=len(files),
            models=len({model for _, model in files}),
            compared=sum(receipt.compared for receipt, _ in files),
            equal=sum(receipt.equal for receipt, _ in files),
            differences=_differences(folder / RECORDED / source / DIFFERENCES, causes, models),
        )
        for source, files in sorted(recorded.items(), key=lambda pair: pair[0])
    )
    return Recordings(tuple(sources), causes)


def _differences(path: Path, causes: Mapping[str, str], models: Models) -> list[dict[str, Any]]:
    """The rows of one table; those of one task that say the same of several models are one."""
    rows = read_table(path, (*_TASK, "model", "samples")) if path.exists() else ()
    for row in rows:
        if row["cause"] not in causes or not row["samples"].isdecimal():
            raise UserError(
                f"{path}: expected a cause that {CAUSES} explains, one of {', '.join(causes) or 'none'},"
                f" and a whole number of samples; got {row['cause']!r} and {row['samples']!r}"
                f" for {row['task']!r}"
            )
    if not rows:
        return []
    frame = pd.DataFrame(rows).astype({"samples": int})
    frame["model"] = [models[model].name if model in models else model for model in frame["model"]]
    return [
        {
            **dict(zip(_TASK, task, strict=True)),
            "models": sorted(set(same["model"]), key=str.lower),
            "samples": int(same["samples"].sum()),
        }
        for task, same in frame.groupby(list(_TASK))
    ]
