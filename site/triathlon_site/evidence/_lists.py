"""What pages that list units say of those of one file, written while the file is read.

A large site has hundreds of thousands of entries; most builds change a few files.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from pydantic_core import from_json

from triathlon_runner.records import Outcome, UnitRecord


class Attempt(NamedTuple):
    """One model's units on one task; for runtime on one program."""

    task: str
    outcome: str
    """`passed`, another outcome, `3 loops`, or `2 of 5 passed` where there are several units."""
    address: str
    """Of its evidence, from the root of the site; of a failed unit where there is one."""


def unit_links(
    records: Sequence[UnitRecord], addresses: Sequence[str], parents: Mapping[str, UnitRecord]
) -> str:
    """A list item a unit, for a page one folder below the root: how it ended, the way to its evidence."""
    found = zip(records, addresses, strict=True)
    return "".join(_unit_link(record, address, parents) for record, address in found)


def _unit_link(record: UnitRecord, address: str, parents: Mapping[str, UnitRecord]) -> str:
    label = record.task_id if not record.sample else f"{record.task_id}, sample {record.sample + 1}"
    note = ""
    if record.outcome != Outcome.PASSED:
        known = ", original solved" if _parents_solved(record, parents) else ""
        note = f" <small>{record.outcome.replace('_', ' ')}{known}</small>"
    return f'<li><a class="{record.outcome}" href="../{escape(address)}">{escape(label)}</a>{note}</li>'


def _parents_solved(record: UnitRecord, parents: Mapping[str, UnitRecord]) -> bool:
    """Whether all of those that there are results of are solved."""
    names = getattr(record, "parents", ())
    known = [parents[name].outcome == Outcome.PASSED for name in names if name in parents]
    return bool(known) and all(known)


def attempts(records: Sequence[UnitRecord], addresses: Sequence[str]) -> str:
    """As JSON, what `read_attempts` reads."""
    groups: dict[str, list[int]] = {}
    for index, record in enumerate(records):
        groups.setdefault(getattr(record, "program_id", record.task_id), []).append(index)
    found = [_attempt(task, units, records, addresses) for task, units in groups.items()]
    return json.dumps(list(zip(*found, strict=True)), separators=(",", ":"))


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
