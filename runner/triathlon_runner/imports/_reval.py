"""REval's logs: a folder `<task>@<model and settings>` for each of the four tasks, the newest file counts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignAnswers, json_lines

_TASKS = ("coverage", "state", "path", "output")
_Replies = dict[tuple[str, int], tuple[str, ...]]
"""By (program, input): the reply about each statement."""


def read_reval(path: Path) -> Iterator[Foreign]:
    """Yields the units that stand in all four logs.

    Raises:
        UserError: a log is missing or has another shape.
    """
    logs = {task: _log(_newest(path, task)) for task in _TASKS}
    for unit, coverage in logs["coverage"].items():
        if all(unit in log for log in logs.values()):
            program, index = unit
            yield ForeignAnswers(
                task_id=f"{program}#{index}",
                coverage=coverage,
                state=logs["state"][unit],
                path=logs["path"][unit],
                output=logs["output"][unit][0],
            )


def _newest(folder: Path, task: str) -> Path:
    """Returns the newest log of a task: their names are times, so it is the last by name."""
    folders = sorted(path for path in folder.glob(f"{task}@*") if path.is_dir())
    if len(folders) != 1:
        names = [path.name for path in folders] or "none"
        raise UserError(
            f"expected one folder {task}@… in {str(folder)!r} (REval's model_generations), got {names}"
        )
    files = sorted(folders[0].glob("*.jsonl"))
    if not files:
        raise UserError(f"expected a log (.jsonl) in {str(folders[0])!r}, got none")
    return files[-1]


def _log(path: Path) -> _Replies:
    replies: _Replies = {}
    for number, row in enumerate(json_lines(path), start=1):
        if "task_id" not in row:  # the last line holds the metrics
            continue
        for generation in row.get("generation") or ():
            try:
                unit = (str(row["task_id"]), int(generation["input_idx"]))
                replies[unit] = tuple(_generated(result) for result in generation["results"])
            except (LookupError, TypeError, ValueError) as error:
                raise UserError(f"{path}, line {number}: expected REval's results, got {error!r}") from None
    return replies


def _generated(result: dict[str, Any]) -> str:
    text = result["generated"]
    return text if isinstance(text, str) else json.dumps(text)
