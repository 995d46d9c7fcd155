"""The lines of one results file, each checked against its schema."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from triathlon_runner.records import UnitRecord
from triathlon_runner.store import RUN_AGAIN, fault_of_line, fault_of_record, fault_of_second
from triathlon_site.load._notice import Notice


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
            first = seen.setdefault(unit, number)
            if first != number:
                message = fault_of_second(unit[:2], first)
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
