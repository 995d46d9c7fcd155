"""What pages that list units say of the units of one file, written while the file is read."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

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
    anchor: str
    """Its id on the page, by which others lead to it; empty for recorded units and further samples."""
    parents_solved: bool = False
    """Whether all problems that it was made from, and that there are results of, are solved."""


def unit_links(
    records: Sequence[UnitRecord], addresses: Sequence[str], parents: Mapping[str, UnitRecord]
) -> Iterator[UnitLink]:
    """A link for each unit: how it ended, and where its evidence is."""
    for record, address in zip(records, addresses, strict=True):
        known = [parents[name].outcome for name in getattr(record, "parents", ()) if name in parents]
        solved = bool(known) and all(outcome == Outcome.PASSED for outcome in known)
        label = f"{record.task_id}, sample {record.sample + 1}" if record.sample else record.task_id
        yield UnitLink(record.outcome.value, address, label, _anchor(record), solved)


def task_links(records: Sequence[UnitRecord], tried: Sequence[Attempt]) -> Iterator[UnitLink]:
    """A link for each task of which several samples are kept without texts: how many of them passed."""
    anchors = {task: _anchor(records[units[0]]) for task, units in _units_by_task(records).items()}
    yield from (UnitLink(one.outcome, one.address, one.task, anchors[one.task]) for one in tried)


def _anchor(record: UnitRecord) -> str:
    recorded = isinstance(record, RecordedUnit)
    return "" if recorded or record.sample else unit_anchor(record.suite, record.task_id)


def _units_by_task(records: Sequence[UnitRecord]) -> Mapping[str, list[int]]:
    """Places of the records of each task; of questions about a program, by the program."""
    units: dict[str, list[int]] = defaultdict(list)
    for place, record in enumerate(records):
        units[getattr(record, "program_id", record.task_id)].append(place)
    return units


def attempts(records: Sequence[UnitRecord], addresses: Sequence[str]) -> Iterator[Attempt]:
    """The attempts at each task of one file."""
    for task, units in _units_by_task(records).items():
        failed = [unit for unit in units if records[unit].outcome != Outcome.PASSED]
        shown = (failed or units)[0]
        if len(units) > 1:
            passed = len(units) - len(failed)
            outcome = f"{passed} of {len(units)} passed" if failed else "passed"
        elif loops := getattr(records[shown], "sustained_loops", None):
            outcome = f"{loops} loop{'s' * (loops > 1)}"
        else:
            outcome = str(records[shown].outcome)
        yield Attempt(task, outcome, addresses[shown])


def attempts_text(tried: Sequence[Attempt]) -> str:
    """The JSON that `read_attempts` reads."""
    return json.dumps(tried, separators=(",", ":"))


def read_attempts(text: bytes) -> Iterator[Attempt]:
    """Every `Attempt` of one file."""
    return (Attempt(*fields) for fields in json.loads(text or b"[]"))
