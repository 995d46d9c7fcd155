"""Writing down under which conditions the lines of a results file were made."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from operator import add

from triathlon_runner import __version__
from triathlon_runner.records import DataSetRecord, Manifest, UnitRecord, Usage
from triathlon_runner.registry import Price
from triathlon_runner.schedule._plan import Work
from triathlon_runner.schedule._reach import Reached
from triathlon_runner.store import Unit


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for every suite of a run."""

    profile: str
    sandbox_level: str
    grader_integrity: str


def manifest_of(
    work: Work,
    records: Mapping[Unit, UnitRecord],
    *,
    conditions: Conditions,
    before: Manifest | None,
    reached: Reached | None,
    failures: Counter[str],
) -> Manifest | None:
    """The manifest to write now; None where nothing was asked and the one that is there still holds."""
    if before is not None and before.protocol != work.protocol:
        before = None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    wanted = {task.task_id for task in work.built.chosen} | {record.task_id for record in records.values()}
    usage = reduce(add, (record.usage for record in records.values()), Usage())
    open_units = len(work.open_units(records))
    outcomes = dict(sorted(Counter(record.outcome.value for record in records.values()).items()))
    if before is not None and (before.outcomes, before.open_units) == (outcomes, open_units) and not failures:
        return None
    data = work.built.suite.data
    return Manifest(
        suite=work.suite_id,
        model=work.row.id,
        served_model=reached.served_model if reached else before.served_model if before else "not reached",
        served_by=reached.served_by if reached else before.served_by if before else "not reached",
        protocol=work.protocol,
        settings=dict(work.settings),
        data=DataSetRecord(name=data.name, version=data.version, sha256=data.sha256),
        runner_version=__version__,
        sandbox_level=conditions.sandbox_level,
        grader_integrity=conditions.grader_integrity,
        profile=conditions.profile,
        tasks_in_suite=len(work.built.tasks),
        tasks_planned=len(wanted),
        open_units=open_units,
        open_reasons=dict(failures),
        outcomes=outcomes,
        usage=usage,
        cost_usd=_cost(work.row.price, usage),
        started=before.started if before else now,
        ended=now,
    )


def _cost(price: Price | None, usage: Usage) -> float | None:
    """USD at the row's price; None where the row names none."""
    if price is None:
        return None
    return round((usage.input_tokens * price.input + usage.output_tokens * price.output) / 1e6, 6)
