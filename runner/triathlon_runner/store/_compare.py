"""Which units of two results files differ."""

from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.store._lines import Head, Unit, parse_line


@dataclass(frozen=True, slots=True)
class Change:
    """A unit with different outcomes in two files; None for a file without the unit."""

    task_id: str
    sample: int
    before: str | None
    after: str | None


def compare_files(first: Path, second: Path) -> list[Change]:
    """Returns the units that differ, in the order of the first file, then of the second.

    Raises:
        DamagedLineError: a line that is no record; names file and line.
    """
    before, after = _outcomes(first), _outcomes(second)
    return [
        Change(*unit, before.get(unit), after.get(unit))
        for unit in {**before, **after}
        if before.get(unit) != after.get(unit)
    ]


def _outcomes(path: Path) -> dict[Unit, str]:
    if not path.exists():
        return {}
    with path.open("rb") as lines:
        heads = (
            parse_line(line, Head, path, number)
            for number, line in enumerate(lines, start=1)
            if line.endswith(b"\n")
        )
        return {(head.task_id, head.sample): head.outcome.value for head in heads}
