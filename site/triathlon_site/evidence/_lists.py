"""What pages that list units say of the units of one file, written while the file is read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from triathlon_runner.records import Outcome, UnitRecord
from triathlon_runner.unit_pages import unit_anchor
from triathlon_site.evidence._article import Article


class Attempt(NamedTuple):
    """One model's units on one task; for runtime on one program."""

    task: str
    outcome: str
    """`passed`, another outcome, `3 loops`, or `2 of 5 passed` where there are several units."""
    address: str
    """Of its evidence, from the root of the site; of a failed unit where there is one."""


class ListedTask(NamedTuple):
    """One task in the list of a model's units."""

    task: str
    outcome: str
    anchor: str
    """Its id on the page."""
    reason: str = ""
    parents_solved: bool = False
    """Whether all problems that it was made from, and that there are results of, are solved."""


def by_task(records: Sequence[UnitRecord]) -> dict[str, list[UnitRecord]]:
    """The records of each task, in the order of their samples."""
    tasks: dict[str, list[UnitRecord]] = {}
    for record in records:
        tasks.setdefault(record.task_id, []).append(record)
    return {task: sorted(of_task, key=lambda record: record.sample) for task, of_task in tasks.items()}


def first_failed(records: Sequence[UnitRecord]) -> UnitRecord:
    """The first that is not passed; the first where all are."""
    return next((record for record in records if record.outcome != Outcome.PASSED), records[0])


def ended(records: Sequence[UnitRecord]) -> str:
    """How the units of a task ended, as `Attempt.outcome` has it."""
    failed = sum(record.outcome != Outcome.PASSED for record in records)
    if len(records) > 1:
        return f"{len(records) - failed} of {len(records)} passed" if failed else "passed"
    return str(records[0].outcome)


def listed_tasks(
    tasks: Mapping[str, Sequence[UnitRecord]], article: Article, parents: Mapping[str, UnitRecord]
) -> Iterator[ListedTask]:
    """Each task with how it ended and why, for the page of its own suite."""
    for task, records in tasks.items():
        worst = first_failed(records)
        known = [parents[name].outcome for name in getattr(worst, "parents", ()) if name in parents]
        solved = bool(known) and all(outcome == Outcome.PASSED for outcome in known)
        why = article.reason(worst) if worst.outcome != Outcome.PASSED else ""
        yield ListedTask(task, ended(records), unit_anchor(task), why, solved)


def attempts(records: Sequence[UnitRecord], page: str, *, receipt: bool) -> Iterator[Attempt]:
    """The attempts at each task of one file.

    Args:
        records: its units.
        page: where their evidence is: the page of the suite, or a receipt.
        receipt: whether it is one address for all.
    """
    programs: dict[str, list[UnitRecord]] = {}
    for record in records:
        programs.setdefault(getattr(record, "program_id", record.task_id), []).append(record)
    for task, units in programs.items():
        shown = first_failed(units)
        outcome = ended(units)
        if len(units) == 1 and (loops := getattr(shown, "sustained_loops", None)):
            outcome = f"{loops} loop{'s' * (loops > 1)}"
        anchor = unit_anchor(shown.task_id, shown.sample)
        yield Attempt(task, outcome, page if receipt else f"{page}#{anchor}")


def attempts_text(tried: Sequence[Attempt]) -> str:
    """The JSON that `read_attempts` reads."""
    return json.dumps(tried, separators=(",", ":"))


def read_attempts(text: bytes) -> Iterator[Attempt]:
    """Every `Attempt` of one file."""
    return (Attempt(*fields) for fields in json.loads(text or b"[]"))
