"""What pages that list units say of the units of one file, written while the file is read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic_core import from_json

from triathlon_runner.records import Outcome, RecordedUnit, UnitRecord
from triathlon_runner.unit_pages import unit_anchor


class Attempt(NamedTuple):
    """One model's units on one task; for runtime on one program."""

    task: str
    outcome: str
    """`passed`, another outcome, `3 loops`, or `2 of 5 passed` where there are several units."""
    address: str
    """Of its evidence, from the root of the site; of a failed unit where there is one."""


class UnitLink(NamedTuple):
    """One unit in the list of all units of a model."""

    outcome: str
    address: str
    label: str
    parents_solved: bool
    """Whether all problems that it was made from are solved."""
    anchor: str = ""
    """Its id on the page, by which others lead to it; empty for recorded units and further samples."""

    @property
    def kind(self) -> str:
        """The class of its colour: an outcome, or `partly` where some of several units passed."""
        if " of " not in self.outcome:
            return self.outcome
        return "failed" if self.outcome.startswith("0 of ") else "partly"


def unit_links(
    records: Sequence[UnitRecord], addresses: Sequence[str], parents: Mapping[str, UnitRecord]
) -> list[UnitLink]:
    """A link for each unit: how it ended, and where its evidence is."""
    return [
        UnitLink(
            record.outcome.value, address, _label(record), _parents_solved(record, parents), _anchor(record)
        )
        for record, address in zip(records, addresses, strict=True)
    ]


def task_links(records: Sequence[UnitRecord], tried: Sequence[Attempt]) -> list[UnitLink]:
    """A link for each task of which several samples are kept without texts: how many of them passed."""
    field = _task_field(records)
    anchors = {getattr(record, field): _anchor(record) for record in reversed(records)}
    return [UnitLink(one.outcome, one.address, one.task, False, anchors[one.task]) for one in tried]


def _anchor(record: UnitRecord) -> str:
    recorded = isinstance(record, RecordedUnit)
    return "" if recorded or record.sample else unit_anchor(record.suite, record.task_id)


def _label(record: UnitRecord) -> str:
    return record.task_id if not record.sample else f"{record.task_id}, sample {record.sample + 1}"


def _parents_solved(record: UnitRecord, parents: Mapping[str, UnitRecord]) -> bool:
    """Whether those of its parents that there are results of are all solved."""
    if not parents:
        return False
    names = getattr(record, "parents", ())
    known = [parents[name].outcome == Outcome.PASSED for name in names if name in parents]
    return bool(known) and all(known)


def attempts(records: Sequence[UnitRecord], addresses: Sequence[str]) -> list[Attempt]:
    """The attempts at each task of one file."""
    field = _task_field(records)
    groups: dict[str, list[int]] = {}
    for index, record in enumerate(records):
        groups.setdefault(getattr(record, field), []).append(index)
    return [_attempt(task, units, records, addresses) for task, units in groups.items()]


def _task_field(records: Sequence[UnitRecord]) -> str:
    """What names the task of each record of one file: of questions about a program, the program."""
    return "program_id" if records and "program_id" in type(records[0]).model_fields else "task_id"


def attempts_text(tried: Sequence[Attempt]) -> str:
    """The JSON that `read_attempts` reads."""
    return json.dumps(list(zip(*tried, strict=True)), separators=(",", ":"))


def read_attempts(text: bytes) -> Iterator[tuple[str, str, str]]:
    """The fields of every `Attempt`."""
    return zip(*from_json(text or b"[]", cache_strings=False), strict=True)


def read_addresses(text: bytes) -> dict[str, str]:
    """Of the evidence of every `Attempt`, by task."""
    return {task: address for task, _, address in read_attempts(text)}


def _attempt(
    task: str, units: Sequence[int], records: Sequence[UnitRecord], addresses: Sequence[str]
) -> Attempt:
    failed = next((unit for unit in units if records[unit].outcome != Outcome.PASSED), units[0])
    if len(units) == 1:
        loops = getattr(records[failed], "sustained_loops", None)
        outcome = f"{loops} loop{'s' * (loops > 1)}" if loops else str(records[failed].outcome)
        return Attempt(task, outcome, addresses[failed])
    passed = sum(records[unit].outcome == Outcome.PASSED for unit in units)
    return Attempt(
        task, "passed" if passed == len(units) else f"{passed} of {len(units)} passed", addresses[failed]
    )
