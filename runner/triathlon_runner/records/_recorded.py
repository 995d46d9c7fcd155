"""Recorded results: replies that others published, graded by our engine; outcomes only, no texts."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby, repeat
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from triathlon_runner.records._base import Count, Outcome, UnitRecord, Usage
from triathlon_runner.records._base_model import Strict
from triathlon_runner.records._disciplines import (
    EvolvedRecord,
    LoopRecord,
    MaxLoops,
    PredictionRecord,
    SustainedLoops,
)
from triathlon_runner.records._manifest import Amount, Manifest

RECORDED: Final = "recorded"
"""The grade of such results, and their folder inside the results folder."""
MEASURED_HERE: Final = "measured"
"""The source of results that this program measured, and that are kept without their texts."""
_HASH_DIGITS: Final = 8
KEPT_AS_OUTCOMES: Final = (LoopRecord, EvolvedRecord, PredictionRecord)
"""Records whose metrics need no more than a recorded line has."""
MOST_SAMPLES: Final = 100_000
"""Of one task in one line: a line that claims more is damaged, and reading it would fill the memory."""


def short_hash(text: str) -> str:
    """Returns the first hex digits of a text's SHA-256; empty for an empty text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS] if text else ""


SourceDate = Annotated[str, Field(pattern=r"^([0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?)?$")]
"""`YYYY`, `YYYY-MM` or `YYYY-MM-DD`; empty where it is not known."""


class RecordedLine(Strict):
    """One line of `recorded/<source>/<model>/<suite>.jsonl`; model, suite and schema are the manifest's."""

    task_id: str
    sample: Count = 0
    outcome: Outcome
    sustained_loops: Count | None = None
    """Of a loop suite."""
    loops_from_programs: int = 0
    """Those of them whose prompt was a program instead of a description of one."""
    parents: tuple[str, ...] = ()
    """task_ids of the problems that this one was evolved from."""
    program: str
    """The first 8 hex digits of the SHA-256 of the program, or of all programs of a loop; empty for none."""
    differs: bool = False
    """Whether the authors' verdict is another. Where a program that failed there passes here, nobody asked
    further: the loops sustained are then the recording's."""


class RecordedTask(Strict):
    """One line of a suite that asks several times a task: all samples of one task."""

    task_id: str
    outcomes: str
    """Of the samples, in order; `passed*2 failed` for two that passed and a third that failed."""
    answers: str
    """The first 8 hex digits of the SHA-256 of all answers."""
    differs: tuple[Count, ...] = ()
    """Samples, from 0, whose authors' verdict is another."""

    @staticmethod
    def outcomes_text(outcomes: Sequence[Outcome]) -> str:
        """Returns the outcomes as a line holds them."""
        runs = ((outcome.value, len(list(same))) for outcome, same in groupby(outcomes))
        return " ".join(f"{name}*{count}" if count > 1 else name for name, count in runs)

    def samples(self) -> Iterator[Outcome]:
        """Yields the outcome of each sample, in order.

        Raises:
            ValueError: there is no such outcome, or a count is none or too large.
        """
        left = MOST_SAMPLES
        for run in self.outcomes.split():
            name, star, count = run.partition("*")
            if star and not (count.isdecimal() and len(count) <= len(str(MOST_SAMPLES))):
                raise ValueError(f"outcomes: expected an outcome such as 'passed*2', got {run[:40]!r}")
            samples = int(count) if star else 1
            left -= samples
            if left < 0:
                raise ValueError(f"outcomes: expected at most {MOST_SAMPLES} samples, got {run[:40]!r}")
            yield from repeat(Outcome(name), samples)


class RecordedUnit(UnitRecord):
    """A recorded line, or one sample of a line that holds a task, as metrics read it."""

    differs: bool = False


class RecordedProgram(RecordedUnit):
    """A recorded line of an evolved suite, as metrics read it."""

    parents: tuple[str, ...] = ()


class RecordedLoop(RecordedUnit):
    """A recorded line of a loop suite, as metrics read it."""

    max_loops: MaxLoops
    sustained_loops: SustainedLoops
    loops_from_programs: int = 0
    similarity: float | None = None
    """Always None: no recording has what its judge said, so that ASL is known as a range."""


class Receipt(Strict):
    """Where recorded results come from, and how far our verdicts equal the authors'."""

    source: str
    """Its id in `recorded/sources.yaml`."""
    title: str
    address: str
    commit: str
    date: SourceDate
    """Of the source, `YYYY-MM` or `YYYY-MM-DD`; empty where it is not known."""
    licence: str
    """As found, in words."""
    note: str = ""
    file: str
    """Name of the file that was read."""
    sha256: str
    """Of that file as it was read, packed where it was."""
    engine_version: Count
    compared: Count
    """Units for which the authors published a verdict."""
    equal: Count
    """Those of them for which ours is the same; for a loop, as many loops sustained."""

    @property
    def measured_here(self) -> bool:
        """Whether this program asked the model itself."""
        return self.source == MEASURED_HERE

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
    open_units: Count = 0
    usage: Usage = Usage()
    cost_usd: Amount | None = None
    started: str = ""
    ended: SourceDate = ""
    """Month or day of the source; empty where it is not known."""
    max_loops: MaxLoops | None = None
    """M of a loop suite."""
    line_holds: Literal["sample", "task"] = "sample"
    """Whether lines are each a `RecordedLine` or a `RecordedTask`."""
    receipt: Receipt

    @property
    def unfinished(self) -> bool:
        """False: recorded results are written whole."""
        return False

    def units(self, line: bytes) -> list[RecordedUnit]:
        """Returns the records that a line stands for: one, or one a sample where lines hold tasks.

        Raises:
            ValueError: the line is none of this suite.
        """
        common: dict[str, Any] = {"suite": self.suite, "model": self.model, "protocol": self.protocol}
        if self.line_holds == "task":
            task = RecordedTask.model_validate_json(line)
            one = RecordedUnit(**common, task_id=task.task_id, outcome=Outcome.PASSED)
            # Checked once and copied: a file has thousands of them.
            return [
                one.model_copy(
                    update={"sample": sample, "outcome": outcome, "differs": sample in task.differs}
                )
                for sample, outcome in enumerate(task.samples())
            ]
        recorded = RecordedLine.model_validate_json(line)
        common |= recorded.model_dump(include={"task_id", "sample", "outcome", "differs"})
        if (self.max_loops is None) != (recorded.sustained_loops is None):
            raise ValueError(
                f"sustained_loops: got {recorded.sustained_loops}, of max_loops {self.max_loops}"
            )
        if self.max_loops is None or recorded.sustained_loops is None:
            return [RecordedProgram(**common, parents=recorded.parents)]
        loop = RecordedLoop(
            **common,
            max_loops=self.max_loops,
            sustained_loops=recorded.sustained_loops,
            loops_from_programs=recorded.loops_from_programs,
        )
        return [loop]
