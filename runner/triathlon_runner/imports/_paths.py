"""The logs at the paths of a command, and the model that a log's file name stands for."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.imports._formats import Format

_ENDINGS: Final = (".gz", ".jsonl", ".json", ".eval")
_DISCIPLINES: Final = ("loop-", "runtime-", "evolved-")


def logs_at(log_format: Format, paths: Sequence[Path]) -> list[Path]:
    """Returns the logs at these paths; those in a folder in the order of their names.

    Raises:
        UserError: nothing is there, a folder holds no log, or a log is named twice.
    """
    logs = [log for path in paths for log in _logs_at(log_format, path)]
    for log in logs:
        if logs.count(log) > 1:
            raise UserError(f"expected each log once, got {str(log)!r} twice; name it once")
    return logs


def _logs_at(log_format: Format, path: Path) -> Iterator[Path]:
    if not path.exists():
        raise UserError(f"expected {log_format.about} at {str(path)!r}, there is nothing")
    if log_format.is_folder or not path.is_dir():
        yield path
        return
    logs = sorted(log for log in path.iterdir() if log.name.endswith(_ENDINGS) and log.is_file())
    if not logs:
        raise UserError(
            f"expected files of {log_format.name} ({log_format.about}) in {str(path)!r}, got none"
        )
    yield from logs


def model_of(log: Path) -> str:
    """Returns the model's id that a log's file name stands for: `gpt-5` for `loop-gpt-5.json.gz`."""
    name = log.name.lower()
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    for discipline in _DISCIPLINES:
        name = name.removeprefix(discipline)
    return name
