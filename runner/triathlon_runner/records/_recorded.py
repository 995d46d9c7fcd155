"""Recorded results: replies that others published, graded by our engine; outcomes only, no texts."""

import hashlib
import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby, repeat
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field

from triathlon_runner.errors import UserError
from triathlon_runner.records._base import Count, Outcome, Reply, Strict, UnitRecord, Usage
from triathlon_runner.records._disciplines import (
    AnswerRecord,
    EvolvedRecord,
    LoopRecord,
    LoopStep,
    MaxLoops,
    Number,
    RuntimeRecord,
    StatementRecord,
)
from triathlon_runner.records._manifest import Amount, Manifest

RECORDED: Final = "recorded"
"""The grade of such results, and their folder inside the results folder."""
MEASURED_HERE: Final = "measured"
"""The source of results that this program measured, and that are kept without their texts."""
_HASH_DIGITS: Final = 8
MOST_SAMPLES: Final = 100_000
"""Of one task in one line: a line that claims more is damaged, and reading it would fill the memory."""
_RUN: Final = re.compile(rf"(?P<name>[a-z_]+)(\*(?P<count>[0-9]{{1,{len(str(MOST_SAMPLES))}}}))?")
"""Equal outcomes of samples that follow each other."""


SourceDate = Annotated[str, Field(pattern=r"^([0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?)?$")]
"""`YYYY`, `YYYY-MM` or `YYYY-MM-DD`; empty where it is not known."""


ConstantAnswer = Literal["YES", "NO", "Nil", "-1"]
"""Whether a line runs; a state without a value; the end of the function."""


class RecordedStatement(Strict):
    """The outcomes of the three questions about one (line, variable)."""

    line: Number
    coverage: Outcome
    state: Outcome
    path: Outcome
    right: tuple[ConstantAnswer, ...] = ()
    """Right answers that no program has to be known for; the others are texts of the data set."""

    @classmethod
    def of(cls, statement: StatementRecord) -> Self:
        """Returns what is kept of a statement's questions."""
        answers = {name: getattr(statement, name) for name in _CONSTANTS}
        right = (
            r for name, constants in _CONSTANTS.items() for r in constants if r in answers[name].expected
        )
        outcomes = {name: answer.outcome for name, answer in answers.items()}
        return cls(line=statement.line, right=tuple(right), **outcomes)

    def record(self) -> StatementRecord:
        """Returns the statement as metrics read it."""
        answers = {
            name: _answer(getattr(self, name), [right for right in self.right if right in constants])
            for name, constants in _CONSTANTS.items()
        }
        return StatementRecord(line=self.line, variable="", **answers)


_CONSTANTS: Final[dict[str, tuple[ConstantAnswer, ...]]] = {
    "coverage": ("YES", "NO"),
    "state": ("Nil",),
    "path": ("-1",),
}
"""By the field of the question."""


def _answer(outcome: Outcome, right: Sequence[str]) -> AnswerRecord:
    """Returns an answer without its texts; whether it said that the line runs follows from its outcome."""
    correct = outcome is Outcome.PASSED
    given = None
    if ("YES" in right or "NO" in right) and outcome in {Outcome.PASSED, Outcome.FAILED}:
        given = "YES" if correct == ("YES" in right) else "NO"
    return AnswerRecord(
        reply=Reply(text=""), answer=given, expected=tuple(right), outcome=outcome, correct=correct
    )


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
    program_id: str = ""
    """Of a runtime suite; likewise the three fields that follow."""
    statements: tuple[RecordedStatement, ...] = ()
    output: Outcome | None = None
    output_by_authors: bool | None = None
    program: str
    """The first 8 hex digits of the SHA-256 of the program, or of all programs of a loop or all answers of a
    unit; empty for none."""
    differs: bool = False
    """Whether the authors' verdict is another. Where a program that failed there passes here, nobody asked
    further: the loops sustained are then the recording's."""

    @classmethod
    def of(cls, record: UnitRecord, text: str, *, differs: bool = False) -> Self:
        """Returns the line of a record; `text` is what the model wrote, of which it keeps the hash."""
        of_discipline: dict[str, Any] = {}
        match record:
            case LoopRecord():
                of_discipline = {
                    "sustained_loops": record.sustained_loops,
                    "loops_from_programs": record.loops_from_programs,
                }
            case EvolvedRecord():
                of_discipline = {"parents": record.parents}
            case RuntimeRecord():
                of_discipline = {
                    "program_id": record.program_id,
                    "statements": tuple(map(RecordedStatement.of, record.statements)),
                    "output": record.output.outcome,
                    "output_by_authors": record.output_by_authors,
                }
        return cls(
            task_id=record.task_id,
            sample=record.sample,
            outcome=record.outcome,
            program=_hash(text),
            differs=differs,
            **of_discipline,
        )

    def record(self, manifest: "RecordedManifest") -> "RecordedUnit":
        """Returns the record that metrics read.

        Raises:
            ValueError: a loop suite has no such line.
        """
        common: dict[str, Any] = {**manifest.of_each_line, "task_id": self.task_id, "sample": self.sample}
        common["outcome"] = self.outcome
        if self.output is not None:
            return RecordedRuntime(
                **common,
                style="cot" if manifest.suite.endswith("@cot") else "direct",
                program_id=self.program_id,
                statements=tuple(statement.record() for statement in self.statements),
                output=_answer(self.output, ()),
                output_by_authors=self.output_by_authors,
            )
        loops, max_loops = self.sustained_loops, manifest.max_loops
        if loops is not None and max_loops is not None:
            return RecordedLoop(**common, max_loops=max_loops, sustained_loops=loops)
        if loops is not None or max_loops is not None:
            raise ValueError(f"sustained_loops: got {loops}, of max_loops {max_loops}")
        return RecordedProgram(**common, parents=self.parents)


class RecordedTask(Strict):
    """One line of a suite that asks several times a task: all samples of one task."""

    task_id: str
    outcomes: str
    """Of the samples, in order; `passed*2 failed` for two that passed and a third that failed."""
    answers: str
    """The first 8 hex digits of the SHA-256 of all answers."""
    differs: tuple[Count, ...] = ()
    """Samples, from 0, whose authors' verdict is another."""

    def samples(self) -> Iterator[Outcome]:
        """Yields the outcome of each sample, in order.

        Raises:
            ValueError: there is no such outcome, or a count is none or too large.
        """
        left = MOST_SAMPLES
        for run in self.outcomes.split():
            parts = _RUN.fullmatch(run)
            left -= int(parts["count"] or 1) if parts else MOST_SAMPLES
            if parts is None or left < 0:
                raise ValueError(
                    "outcomes: expected an outcome such as 'passed*2' and at most"
                    f" {MOST_SAMPLES} samples, got {run[:40]!r}"
                )
            yield from repeat(Outcome(parts["name"]), int(parts["count"] or 1))

    def record(self, manifest: "RecordedManifest") -> "RecordedUnit":
        """Returns one record of all samples.

        Raises:
            ValueError: there are none, or `samples` finds a fault.
        """
        samples = tuple(self.samples())
        if not samples:
            raise ValueError("outcomes: expected that of a sample, got none")
        return RecordedUnit(
            **manifest.of_each_line, task_id=self.task_id, outcome=samples[0], samples=samples
        )

    @classmethod
    def of(cls, task_id: str, units: Sequence[tuple[RecordedLine, str]]) -> Self:
        """Returns the line of a task's samples, each with what the model wrote.

        Raises:
            UserError: one of them is missing.
        """
        lines = [line for line, _ in units]
        if [line.sample for line in lines] != list(range(len(lines))):
            raise UserError(f"{task_id}: expected its samples from 0 on; finish the run before compacting it")
        runs = ((name, len(list(same))) for name, same in groupby(line.outcome.value for line in lines))
        return cls(
            task_id=task_id,
            outcomes=" ".join(f"{name}*{count}" if count > 1 else name for name, count in runs),
            answers=_hash("\0".join(text for _, text in units)),
            differs=tuple(line.sample for line in lines if line.differs),
        )


def recorded_lines(
    units: Sequence[tuple[RecordedLine, str]], *, by_task: bool
) -> list[RecordedLine] | list[RecordedTask]:
    """Returns the lines of a file: one for each unit, or one for all samples of a task.

    `by_task`: whether the suite asks several times a task, so that lines hold tasks. Each unit comes with
    what the model wrote.
    """
    if not by_task:
        return [line for line, _ in units]
    tasks: dict[str, list[tuple[RecordedLine, str]]] = {line.task_id: [] for line, _ in units}
    for line, text in sorted(units, key=lambda unit: unit[0].sample):
        tasks[line.task_id].append((line, text))
    return [RecordedTask.of(task_id, samples) for task_id, samples in tasks.items()]


def _hash(text: str) -> str:
    """Returns the first hex digits of a text's SHA-256; empty for an empty text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS] if text else ""


class RecordedUnit(UnitRecord):
    """A recorded line, or one sample of a line that holds a task, as metrics read it: no texts."""

    task_is_cluster: ClassVar[bool] = True
    """Whether metrics count each task by itself; else several tasks share a program."""
    samples: tuple[Outcome, ...] = ()
    """Of a line that holds all samples of a task; `outcome` is then that of the first."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Of each sample that the line holds."""
        return self.samples or (self.outcome,)

    @property
    def alike(self) -> Hashable:
        """Equal for units that add the same to every metric."""
        return tuple(sorted(self.outcomes))

    def apart(self) -> "list[RecordedUnit]":
        """Returns each sample by itself."""
        if not self.samples:
            return [self]
        one = self.model_copy(update={"samples": ()})
        # Checked once and copied: a file has thousands of them.
        return [
            one.model_copy(update={"sample": sample, "outcome": outcome})
            for sample, outcome in enumerate(self.samples)
        ]


class RecordedProgram(RecordedUnit):
    """A recorded line of an evolved suite."""

    parents: tuple[str, ...] = ()


class RecordedLoop(RecordedUnit, LoopRecord):
    """A recorded line of a loop suite: no recording has what its judge said, so ASL is known as a range."""

    loops: tuple[LoopStep, ...] = ()

    @property
    def alike(self) -> Hashable:
        """Equal for units that add the same to every metric."""
        return self.outcome, self.similarity, self.max_loops, self.sustained_loops


class RecordedRuntime(RecordedUnit, RuntimeRecord):
    """A recorded line of a runtime suite: the outcome of each answer."""

    task_is_cluster: ClassVar[bool] = False
    program: str = ""
    input: str = ""

    @property
    def alike(self) -> Hashable:
        """Equal for units that add the same to every metric: its answers are its own."""
        return self.task_id, self.sample


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

    @property
    def of_each_line(self) -> dict[str, Any]:
        """What all records of its lines have in common."""
        return {"suite": self.suite, "model": self.model, "protocol": self.protocol}

    def unit(self, line: bytes) -> RecordedUnit:
        """Returns the record that a line stands for: of one unit, or of all samples of a task.

        Raises:
            ValueError: the line is none of this suite.
        """
        schema: type[RecordedTask | RecordedLine]
        schema = RecordedTask if self.line_holds == "task" else RecordedLine
        return schema.model_validate_json(line).record(self)
