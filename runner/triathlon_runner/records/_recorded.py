"""Recorded results: replies that others published, judged by our engine; outcomes only, no texts."""

from typing import Final

from pydantic import Field

from triathlon_runner.records._base import Outcome, Strict, UnitRecord, Usage
from triathlon_runner.records._manifest import Manifest

RECORDED: Final = "recorded"
"""The grade of such results, and their folder inside the results folder."""


class RecordedLine(Strict):
    """One line of `recorded/<source>/<model>/<suite>.jsonl`; model, suite and schema are the manifest's."""

    task_id: str
    sample: int = 0
    outcome: Outcome
    sustained_loops: int | None = None
    """Of a loop suite."""
    parents: tuple[str, ...] = ()
    """task_ids of the problems that this one was evolved from."""
    program: str
    """The first 8 hex digits of the SHA-256 of the program, or of all programs of a loop; empty for none."""
    differs: bool = False
    """Whether the authors' verdict is another. Where a program that failed there passes here, nobody asked
    further: the loops sustained are then the recording's."""


class RecordedUnit(UnitRecord):
    """A recorded line of any suite."""

    differs: bool = False


class RecordedProgram(RecordedUnit):
    """A recorded line of an evolved suite, as metrics read it."""

    parents: tuple[str, ...] = ()


class RecordedLoop(RecordedUnit):
    """A recorded line of a loop suite, as metrics read it."""

    max_loops: int
    sustained_loops: int
    similarity: float | None = None
    """Always None: no recording has what its judge said, so that ASL is known as a range."""


class Receipt(Strict):
    """Where recorded results come from, and how far our verdicts equal the authors'."""

    source: str
    """Its id in `recorded/sources.yaml`."""
    title: str
    address: str
    commit: str
    date: str
    """Of the source, `YYYY-MM` or `YYYY-MM-DD`; empty where it is not known."""
    licence: str
    """As found, in words."""
    note: str = ""
    file: str
    """Name of the file that was read."""
    sha256: str
    """Of that file as it was read, packed where it was."""
    engine_version: int
    compared: int
    """Units for which the authors published a verdict."""
    equal: int
    """Those of them for which ours is the same; for a loop, as many loops sustained."""

    @property
    def share(self) -> float | None:
        """Share of equal verdicts; None where there was none to compare with."""
        return self.equal / self.compared if self.compared else None


class RecordedManifest(Manifest):
    """The manifest beside recorded lines. No clock is read for it: the same files give the same bytes."""

    served_by: str = "others: a recording"
    runner_version: str = ""
    sandbox_level: str = ""
    grader_integrity: str = "not run"
    profile: str = RECORDED
    open_units: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = None
    started: str = ""
    ended: str = ""
    """Month or day of the source; empty where it is not known."""
    max_loops: int | None = Field(default=None, ge=1)
    """M of a loop suite."""
    receipt: Receipt

    @property
    def unfinished(self) -> bool:
        """False: recorded results are written whole."""
        return False

    def unit(self, line: RecordedLine) -> RecordedUnit:
        """Returns the record that a line stands for.

        Raises:
            ValueError: a line with loops in a suite without, or the reverse.
        """
        common = {
            "suite": self.suite,
            "model": self.model,
            "task_id": line.task_id,
            "sample": line.sample,
            "protocol": self.protocol,
            "outcome": line.outcome,
            "differs": line.differs,
        }
        if (self.max_loops is None) != (line.sustained_loops is None):
            raise ValueError(f"sustained_loops: got {line.sustained_loops}, of max_loops {self.max_loops}")
        if self.max_loops is None:
            return RecordedProgram.model_validate(common | {"parents": line.parents})
        loops = {"max_loops": self.max_loops, "sustained_loops": line.sustained_loops}
        return RecordedLoop.model_validate(common | loops)
