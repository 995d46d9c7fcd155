"""What every record is made of: the strict base, protocols, outcomes, replies, usage, verdicts."""

import csv
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib.resources import files
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
)

SCHEMA_VERSION: Final = 1
_DIGITS: Final = 16
_MOST: Final = 2**53
Count = Annotated[int, Field(ge=0, le=_MOST)]
"""Spreadsheets and scripts cannot read larger numbers exactly."""
Amount = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
"""Seconds (thirty years) or dollars: larger ones could have an infinite sum."""


class Strict(BaseModel):
    """Base of everything on disk: unknown keys and silent conversions are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, populate_by_name=True, use_attribute_docstrings=True
    )


class ProtocolHashes(Strict):
    """Rows rank together only where both hashes are equal."""

    asked: str
    """Of the prompts, the questions, the data, temperature, top-p and style; of a recording whose prompts are
    not in our files, its source."""
    graded: str
    """Of the truths and of the rule by which answers are compared with them."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Returns the hashes of a suite's settings, the same on every machine."""
        return cls(asked=_hash(settings["asked"]), graded=_hash(settings["graded"]))

    def __str__(self) -> str:
        return f"{self.asked}-{self.graded}"


def _hash(fields: str | Mapping[str, Any]) -> str:
    if isinstance(fields, str):  # the name of a source
        return fields
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


@functools.cache
def known_protocols() -> Mapping[tuple[str, str], ProtocolHashes]:
    """Returns protocols by suite and the one hash of an earlier version; by suite and "" those of today."""
    text = (files("triathlon_runner.records") / "known_protocols.csv").read_text("utf-8")
    return {
        (row["suite"], row["before"]): ProtocolHashes(asked=row["asked"], graded=row["graded"])
        for row in csv.DictReader(text.splitlines())
    }


def _of_earlier_version(value: Any, info: ValidationInfo) -> Any:
    """Returns the two hashes for the one of an earlier version: by the table, else a protocol of its own."""
    if isinstance(value, str):
        unknown = ProtocolHashes(asked=value, graded=value)
        return known_protocols().get((str(info.data.get("suite")), value), unknown)
    return value


Protocol = Annotated[ProtocolHashes, BeforeValidator(_of_earlier_version)]
"""The field `protocol` of lines and manifests."""


class Outcome(StrEnum):
    """How a unit, a program or an answer ended. No infrastructure faults: such a unit stays open."""

    PASSED = "passed"
    FAILED = "failed"
    """The program ran and gave another value than expected; the answer is wrong."""
    CRASHED = "crashed"
    """The program raised, exited, was killed by a signal, ran out of memory or does not parse."""
    TIMED_OUT = "timed_out"
    NO_ANSWER = "no_answer"
    """The reply holds nothing that can be taken for an answer."""
    TRUNCATED = "truncated"
    """The reply was cut at the token limit."""
    REFUSED = "refused"
    CONTEXT_OVERFLOW = "context_overflow"


class Finish(StrEnum):
    """Why the model stopped writing, as the endpoint reports it, in our words."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"
    CONTEXT_OVERFLOW = "context_overflow"

    @property
    def outcome_without_answer(self) -> Outcome:
        """The outcome of a reply without an answer that ended for this reason."""
        renamed = {Finish.STOP: Outcome.NO_ANSWER, Finish.LENGTH: Outcome.TRUNCATED}
        return renamed.get(self) or Outcome(self.value)


class Usage(Strict):
    """Tokens and requests that a unit took."""

    requests: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    reasoning_tokens: Count = 0
    """Part of `output_tokens` that was reasoning, where the server says so."""
    uncounted: Count = 0
    """Requests for which the server gave no token counts: their tokens are unknown and in no sum here, so the
    cost is unknown, too. Left out of the file where it is 0."""

    @model_serializer(mode="wrap")
    def _without_zero(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialize(self)
        if not self.uncounted:
            fields.pop("uncounted", None)
        return fields

    @classmethod
    def of_sums(cls, sums: Mapping[str, int]) -> "Usage":
        """Returns the usage of several units, whose sums may exceed the largest count."""
        return cls(**{name: min(count, _MOST) for name, count in sums.items()})

    def __add__(self, other: "Usage") -> "Usage":
        return Usage.of_sums({name: count + getattr(other, name) for name, count in self})


class Reply(Strict):
    """One answer of a model, reasoning kept apart from what counts."""

    text: str
    reasoning: str = ""
    finish: Finish = Finish.STOP


class FailingCase(Strict):
    """The first test that a program did not pass, shortened for reading."""

    index: Count
    """Position among the suite's inputs, from 0."""
    input: str
    expected: str
    got: str
    """The value that came, the exception with its message, or what the process died of."""


class Verdict(Strict):
    """How one program was graded. Equal inputs give equal verdicts on any machine at any load."""

    outcome: Outcome
    passed: Count
    """Inputs passed before the first failure (grading stops there)."""
    total: Count
    failing: FailingCase | None = None
    judged: Literal["outside", "same-process"] = "outside"
    """Where results were compared: outside the program's process; earlier versions may say `same-process`."""
    detail: str = ""
    """What a reader needs beside the failing case: a syntax error, the signal, the last output."""


class Question(NamedTuple):
    """One question that a model was asked, its reply, and what became of that."""

    text: str
    """With all that it is about; empty for a reply that follows the one before without being asked."""
    reply: Reply
    extracted: str = ""
    """The program or the answer that was taken out of the reply."""
    expected: tuple[str, ...] = ()
    """Every answer that would be right, as text."""
    key: str = ""
    """What finds its reply by a prompt (`UnitRecord.question_in`); empty where the order of asking does."""
    name: str = ""
    """Of a question among several of one unit that do not follow from each other."""
    outcome: Outcome | None = None
    """Of this question alone; None where it is the unit's."""


class UnitRecord(Strict):
    """One line of a results file: one finished unit (a task; for runtime one program and input)."""

    conversation: ClassVar[bool] = False
    """Whether its questions follow from each other, so that they are one conversation."""
    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, alias="schema")
    suite: str
    """`discipline/dataset`, with `@variant` where a setting differs from the suite's own."""
    model: str
    task_id: str
    sample: Count = 0
    protocol: Protocol
    """Hashes of what was asked and of how it was graded."""
    outcome: Outcome
    usage: Usage = Usage()
    seconds: Amount = 0.0
    """Wall time of the unit; the only field that differs between two runs on the same replies."""

    def fault(self) -> str:
        """Returns how outcome and evidence contradict each other (one was changed), in words; else ""."""
        return ""

    def questions(self) -> Iterator[Question]:
        """Returns each question with the model's stored reply, in the order of asking.

        `verify` grades a line again from these; a record type with replies overrides this.
        """
        yield from ()

    def replies(self) -> Iterator[Reply]:
        """Returns the stored replies, in the order of asking."""
        return (question.reply for question in self.questions())

    @staticmethod
    def question_in(prompt: str) -> str:  # noqa: ARG004  record types whose units ask several things at once
        """Returns the key of the question that a prompt asks; empty where the order tells."""
        return ""
