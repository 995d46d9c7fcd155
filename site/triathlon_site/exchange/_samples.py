"""Programs as samples: EvalPlus' lines."""

import json
from collections.abc import Iterator

from triathlon_runner.catalogue import entries
from triathlon_runner.records import ProgramRecord
from triathlon_site.exchange._source import Source


def fault(source: Source) -> str:
    """Why there are no programs to export; empty where there are."""
    if not source.with_texts:
        return "its programs are others' work, or its tasks are private"
    if not issubclass(source.entry.record, ProgramRecord):
        fitting = {entry.discipline for entry in entries() if issubclass(entry.record, ProgramRecord)}
        return f"its units are no single programs; expected a suite of {' or '.join(sorted(fitting))}"
    return ""


def evalplus(source: Source) -> Iterator[tuple[str, Iterator[str]]]:
    """One file: `task_id` and `solution` (a whole program) a line; a task's samples one after another."""
    rows = ({"task_id": record.task_id, "solution": record.program} for record in programs(source))
    lines = (json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
    yield f"{source.info.slug}/{source.entry.id}.jsonl", lines


def programs(source: Source) -> Iterator[ProgramRecord]:
    """The records of a source for which `fault` is empty."""
    return (record for record in source.records() if isinstance(record, ProgramRecord))
