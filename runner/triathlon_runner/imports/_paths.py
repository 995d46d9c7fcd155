"""Which logs a command names, and whose each is."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.imports._formats import Format

_ENDINGS: Final = (".gz", ".jsonl", ".json", ".eval")
_DISCIPLINES: Final = ("loop-", "runtime-", "evolved-")


def logs_at(form: Format, paths: Sequence[Path]) -> list[Path]:
    """Returns the logs at these paths; those in a folder by name.

    Raises:
        UserError: nothing is there, a folder holds no log, or a log is named twice.
    """
    logs = [log for path in paths for log in _logs_at(form, path)]
    for log in logs:
        if logs.count(log) > 1:
            raise UserError(f"expected each log once, got {str(log)!r} twice; name it once")
    return logs


def _logs_at(form: Format, path: Path) -> Iterator[Path]:
    if not path.exists():
        raise UserError(f"expected {form.about} at {str(path)!r}, there is nothing")
    if form.is_folder or not path.is_dir():
        yield path
        return
    logs = sorted(one for one in path.iterdir() if one.name.endswith(_ENDINGS) and one.is_file())
    if not logs:
        raise UserError(f"expected files of {form.name} ({form.about}) in {str(path)!r}, got none")
    yield from logs


def model_of(log: Path) -> str:
    """Returns the model's id that a log's name stands for: `loop-gpt-5.json.gz` is `gpt-5`'s."""
    name = log.name.lower()
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    for discipline in _DISCIPLINES:
        name = name.removeprefix(discipline)
    return name
