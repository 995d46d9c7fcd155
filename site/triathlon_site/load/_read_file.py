"""Reading one results file and the manifest beside it, with a notice for each fault."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from triathlon_runner.engine_version import graded_otherwise
from triathlon_runner.records import Manifest, UnitRecord
from triathlon_runner.store import (
    RUN_AGAIN,
    fault_of_line,
    fault_of_manifest,
    fault_of_record,
    fault_of_second,
)
from triathlon_site.load._notice import Notice, first_fault, unreadable


def read_lines(
    path: Path, record: type[UnitRecord], *, file: str, model: str, suite: str
) -> Iterator[UnitRecord | Notice]:
    """Every line as a record, or as a notice of why it is none. Reads one line at a time."""
    seen: dict[tuple[str, int, str], int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            parsed = _parse(line, record, model, suite)
            if isinstance(parsed, str):
                yield Notice(file=file, line=number, message=parsed)
                continue
            unit = (parsed.task_id, parsed.sample, parsed.protocol)
            first_number = seen.setdefault(unit, number)
            if first_number != number:
                message = fault_of_second(unit[:2], first_number)
                yield Notice(file=file, line=number, message=f"{message}; not counted")
                continue
            yield parsed


def _parse(line: bytes, record: type[UnitRecord], model: str, suite: str) -> UnitRecord | str:
    if not line.endswith(b"\n"):
        return "the line was cut before its end; the next run makes its unit again"
    try:
        parsed = record.model_validate_json(line)
    except ValidationError as error:
        return fault_of_line(line, error)
    if parsed.model != model:
        return f"a line of model {parsed.model!r} in the folder of {model!r}"
    if parsed.suite != suite:
        return f"a line of suite {parsed.suite!r} in the file of {suite!r}"
    fault = fault_of_record(parsed)
    if not fault:
        return parsed
    return f"{fault}; it does not count; {RUN_AGAIN}; `triathlon verify` shows what the rest of the line says"


def read_manifest(path: Path, file: str, model: str, suite: str) -> tuple[Manifest | None, list[Notice]]:
    """The manifest, or a notice of what is wrong with it.

    Args:
        path: of the manifest.
        file: the results file that it belongs to, relative to the results folder.
        model: whose results these are.
        suite: on what.
    """
    archive = f"`triathlon results archive --models {model} --suites {suite}`"
    if not path.exists():
        message = (
            "no manifest beside it: its lines count, under conditions that are unknown; `triathlon run`"
            f" writes a new one, {archive} puts the lines aside"
        )
        return None, [Notice(file=file, message=message)]
    try:
        manifest, fault = None, unreadable(path)
        if not fault:
            manifest = Manifest.model_validate_json(path.read_bytes())
            fault = fault_of_manifest(manifest, model, suite)
    except ValueError as error:
        fault = first_fault(error)
    if not fault:
        return manifest, []
    message = (
        f"its manifest cannot be used: {fault}; its lines count, under conditions that are unknown: mend the"
        f" manifest, or put both aside with {archive}"
    )
    return None, [Notice(file=file, message=message)]


def contradictions(manifest: Manifest, records: Sequence[UnitRecord], lines: int) -> Iterator[str]:
    """What the manifest says and the lines do not bear out, in words."""
    counted = sum(manifest.outcomes.values())
    if counted > lines:
        yield f"its manifest counts {counted} units, lines in the file: {lines}; some were lost"
    tasks = len({record.task_id for record in records})
    if tasks > manifest.tasks_in_suite:
        yield f"{tasks} tasks, but its manifest says that the suite has {manifest.tasks_in_suite}"
    if records and (engine := graded_otherwise(manifest.engine_versions)):
        yield engine
