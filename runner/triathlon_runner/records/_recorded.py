"""Results without texts, recorded or compacted: ordinary records, and the manifest that is their receipt.

A line has neither texts, nor default values, nor what its manifest says of all lines.
"""

import hashlib
import json
import re
from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import groupby
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from triathlon_runner.errors import UserError
from triathlon_runner.records import _disciplines
from triathlon_runner.records._base import Amount, Count, Outcome, Reply, Strict, UnitRecord, Usage
from triathlon_runner.records._manifest import Manifest

RECORDED: Final = "recorded"
"""The grade of such results, and their folder inside the results folder."""
MEASURED_HERE: Final = "measured"
"""The source of results that this program measured, and that are kept without their texts."""
_HASH_DIGITS: Final = 8
MOST_SAMPLES: Final = 100_000
"""Of one task in one line: a line that claims more is damaged, and reading it would fill the memory."""
_RUN: Final = re.compile(r"(?P<name>[a-z_]+)(\*(?P<count>[0-9]{1,6}))?")
"""Equal outcomes of samples that follow each other."""

SourceDate = Annotated[str, Field(pattern=r"^([0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?)?$")]
"""`YYYY`, `YYYY-MM` or `YYYY-MM-DD`; empty where it is not known."""
ConstantAnswer = Literal["YES", "NO", "Nil", "-1"]
"""Whether a line runs; a state without a value; the end of the function."""
_CONSTANTS: Final[dict[str, tuple[ConstantAnswer, ...]]] = {
    "coverage": ("YES", "NO"),
    "state": ("Nil",),
    "path": ("-1",),
}
"""By the field of the question."""


class RecordedUnit(UnitRecord):
    """A record without texts."""

    task_is_cluster: ClassVar[bool] = True
    """Whether metrics count each task by itself; else several tasks share a program."""
    samples: tuple[Outcome, ...] = ()
    """Of a line that holds all samples of a task; `outcome` is then that of the first."""
    program: str
    """The first 8 hex digits of the SHA-256 of what the model wrote: a program, all programs of a loop, all
    answers of a unit or of a task; empty for nothing."""
    differs: bool | tuple[Count, ...] = False
    """Whether the authors' verdict is another; of a task, of which samples, from 0. Where a program that
    failed there passes here, nobody asked further: the loops sustained are then the recording's."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Of each sample that the line holds."""
        return self.samples or (self.outcome,)

    @property
    def alike(self) -> Hashable:
        """Equal for units that add the same to every metric."""
        own = None if self.task_is_cluster else (self.task_id, self.sample)
        return own, getattr(self, "sustained_loops", None), tuple(sorted(self.outcomes))

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
    """A line of an evolved suite."""

    parents: tuple[str, ...] = ()


_OF_THE_MANIFEST: Final = (b'"suite":', b'"model":', b'"protocol":', b'"max_loops":', b'"style":')
"""Keys that no line has; inside a text of JSON their quotes would be escaped."""
_WITH_TEXTS: Final = frozenset(
    {"schema_version", "usage", "seconds", "similarity", "loops", "judge_replies", "judge_usage", "input"}
    | {"setup", "output_masks_call"}
)
"""Fields of records that no line without texts has."""


class RecordedLoop(RecordedUnit, _disciplines.LoopRecord):
    """A line of a loop suite: no recording has what its judge said, so ASL is known as a range."""

    has_steps: ClassVar[bool] = False
    loops: tuple[_disciplines.LoopStep, ...] = ()
    from_programs: Annotated[Count, Field(alias="loops_from_programs")] = 0
    """Sustained loops whose prompt was a program instead of a description of one."""

    @property
    def loops_from_programs(self) -> int:
        """As the line has it: there are no steps to count."""
        return self.from_programs


def _answer(value: object) -> object:
    """Returns an answer that has no texts for its outcome; what is one already stays as it is."""
    if not isinstance(value, str):
        return value
    outcome = Outcome(value)
    correct = outcome is Outcome.PASSED
    return _disciplines.AnswerRecord(
        reply=Reply(text=""), answer=None, expected=(), outcome=outcome, correct=correct
    )


RecordedAnswer = Annotated[_disciplines.AnswerRecord, BeforeValidator(_answer)]
"""An answer of which the line has the outcome."""


class RecordedStatement(_disciplines.StatementRecord):
    """The outcomes of the three questions about one (line, variable)."""

    variable: str = ""
    coverage: RecordedAnswer
    state: RecordedAnswer
    path: RecordedAnswer
    right: tuple[ConstantAnswer, ...] = ()
    """Right answers that no program has to be known for; the others are texts of the data set."""

    @model_validator(mode="after")
    def _with_constants(self) -> Self:
        """Returns it with the right answers; whether an answer said that the line runs follows from them."""
        answers = {}
        for kind, constants in _CONSTANTS.items():
            answer: _disciplines.AnswerRecord = getattr(self, kind)
            expected = tuple(right for right in self.right if right in constants)
            given = None
            if kind == "coverage" and expected and answer.outcome in {Outcome.PASSED, Outcome.FAILED}:
                given = "YES" if answer.correct == ("YES" in expected) else "NO"
            answers[kind] = answer.model_copy(update={"expected": expected, "answer": given})
        return self.model_copy(update=answers)


class RecordedRuntime(RecordedUnit, _disciplines.RuntimeRecord):
    """A line of a runtime suite: the outcome of each answer."""

    task_is_cluster: ClassVar[bool] = False
    input: str = ""
    statements: tuple[RecordedStatement, ...] = ()
    output: RecordedAnswer


def _samples(value: object) -> object:
    """Returns the outcomes that a text such as `passed*2 failed` stands for; another value as it is.

    Raises:
        ValueError: there is no such outcome, or a count is none or too large.
    """
    if not isinstance(value, str):
        return value
    outcomes: list[Outcome] = []
    for run in value.split():
        parts = _RUN.fullmatch(run)
        count = int(parts["count"] or 1) if parts else 0
        if parts is None or len(outcomes) + count > MOST_SAMPLES:
            raise ValueError(
                f"expected outcomes such as 'passed*2 failed' of at most {MOST_SAMPLES} samples,"
                f" got {run[:40]!r}"
            )
        outcomes += [Outcome(parts["name"])] * count
    if not outcomes:
        raise ValueError("expected the outcome of a sample, got none")
    return tuple(outcomes)


class RecordedTask(RecordedUnit):
    """A line of a suite that asks several times a task: all samples of one task, in order."""

    outcome: Outcome = Outcome.PASSED
    samples: Annotated[tuple[Outcome, ...], BeforeValidator(_samples), Field(alias="outcomes")]
    program: Annotated[str, Field(alias="answers")]
    differs: tuple[Count, ...] = ()

    @model_validator(mode="after")
    def _with_first_outcome(self) -> Self:
        return self.model_copy(update={"outcome": self.samples[0]})


def lines_without_texts(
    graded: Sequence[tuple[UnitRecord, str, bool]], *, by_task: bool
) -> list[dict[str, Any]]:
    """Returns the lines of a file without texts: one for each record, or one for all samples of a task.

    `graded` has each record with what the model wrote, and whether its authors' verdict is another.

    Raises:
        UserError: a sample of a task is missing.
    """
    if not by_task:
        return [_line(record, text, differs=differs) for record, text, differs in graded]
    tasks: dict[str, list[tuple[UnitRecord, str, bool]]] = {record.task_id: [] for record, *_ in graded}
    for each in sorted(graded, key=lambda unit: unit[0].sample):
        tasks[each[0].task_id].append(each)
    lines = []
    for task_id, samples in tasks.items():
        if [record.sample for record, *_ in samples] != list(range(len(samples))):
            raise UserError(f"{task_id}: expected its samples from 0 on; finish the run before compacting it")
        outcomes = ((name, len(list(same))) for name, same in groupby(r.outcome.value for r, *_ in samples))
        line: dict[str, Any] = {
            "task_id": task_id,
            "outcomes": " ".join(f"{name}*{count}" if count > 1 else name for name, count in outcomes),
            "answers": _hash("\0".join(text for _, text, _ in samples)),
        }
        if differing := [record.sample for record, _, differs in samples if differs]:
            line["differs"] = differing
        lines.append(line)
    return lines


def _line(record: UnitRecord, text: str, *, differs: bool) -> dict[str, Any]:
    line: dict[str, Any] = {
        "task_id": record.task_id,
        "sample": record.sample,
        "outcome": record.outcome.value,
    }
    match record:
        case _disciplines.LoopRecord():
            line["sustained_loops"] = record.sustained_loops
            if record.loops_from_programs:
                line["loops_from_programs"] = record.loops_from_programs
        case _disciplines.EvolvedRecord() if record.parents:
            line["parents"] = record.parents
        case _disciplines.RuntimeRecord():
            line["program_id"] = record.program_id
            if record.statements:
                line["statements"] = list(map(_line_of_statement, record.statements))
            line["output"] = record.output.outcome.value
            if record.output_by_authors is not None:
                line["output_by_authors"] = record.output_by_authors
    line["program"] = _hash(text)
    return line | ({"differs": True} if differs else {})


def _line_of_statement(statement: _disciplines.StatementRecord) -> dict[str, Any]:
    answers: dict[str, _disciplines.AnswerRecord] = {kind: getattr(statement, kind) for kind in _CONSTANTS}
    right = [r for kind, constants in _CONSTANTS.items() for r in constants if r in answers[kind].expected]
    outcomes = {kind: answer.outcome.value for kind, answer in answers.items()}
    return {"line": statement.line, **outcomes, "right": right}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS] if text else ""


class Receipt(Strict):
    """Where recorded results come from, and how far our verdicts equal the authors'."""

    source: str
    """Its id in `recorded/sources.yaml`."""
    title: str
    address: str
    commit: str
    date: SourceDate
    """Of the source."""
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
    """The manifest beside lines without texts; the same files give the same bytes, so it tells no time."""

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
    max_loops: _disciplines.Number | None = None
    """M of a loop suite."""
    line_holds: Literal["sample", "task"] = "sample"
    receipt: Receipt

    @property
    def unfinished(self) -> bool:
        """False: recorded results are written whole."""
        return False

    @cached_property
    def _of_each_line(self) -> bytes:
        """JSON of the fields that lines leave out, without its braces."""
        fields: dict[str, Any] = {"suite": self.suite, "model": self.model}
        fields["protocol"] = self.protocol.model_dump()
        if self.line_holds == "sample" and self.max_loops is not None:
            fields["max_loops"] = self.max_loops
        return json.dumps(fields)[1:-1].encode()

    def unit(self, line: bytes) -> RecordedUnit:
        """Returns the record of a line, which the manifest completes.

        Raises:
            ValueError: the line is none of this suite.
        """
        text = line.strip()
        if not (text.startswith(b"{") and text.endswith(b"}")):
            raise ValueError("expected a JSON object")
        if any(key in text for key in _OF_THE_MANIFEST):
            raise ValueError("expected no field that the manifest has")
        schema: type[RecordedUnit] = RecordedProgram
        if self.line_holds == "task":
            schema = RecordedTask
        elif self.max_loops is not None:
            schema = RecordedLoop
        elif b'"output":' in text:
            schema = RecordedRuntime
            text = text[:-1] + (b',"style":"cot"}' if self.suite.endswith("@cot") else b',"style":"direct"}')
        # Joined as texts and parsed once: a board has a hundred thousand of them.
        record = schema.model_validate_json(text[:-1] + b"," + self._of_each_line + b"}")
        never = _WITH_TEXTS | {"sample" if self.line_holds == "task" else "samples"}
        if more := sorted(record.model_fields_set & never):
            raise ValueError(f"expected a line without texts, got {', '.join(more)}")
        return record
