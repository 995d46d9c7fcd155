"""inspect_ai's logs: `.eval` is a zip of a header and one JSON file a sample, `.json` is all in one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignReply, as_object, object_of, task_name, whole
from triathlon_runner.imports._zip import member, opened

MOST_CHARACTERS = 200
"""Of an error's message that are shown."""


def read_inspect(path: Path) -> Iterator[Foreign]:
    """Each sample's `id` is the task, its `output` the reply. A sample that ended in an error has none.

    Raises:
        UserError: the file is no such log.
    """
    for sample in _samples(path):
        task = task_name(sample.get("id")) or ""
        if sample.get("error") is None:
            yield ForeignReply(task, _reply(sample, path), _prompt(sample))
        else:
            yield ForeignReply(task, "", error=_message(sample["error"]))


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    if not is_zipfile(path):
        log = as_object(whole(path), str(path))
        if not isinstance(log.get("samples"), list):
            raise UserError(f"{path}: expected inspect_ai's log with its samples, got keys {sorted(log)[:8]}")
        yield from (object_of(sample, f"{path}, samples") for sample in log["samples"])
        return
    with opened(path) as archive:
        names = sorted(
            (name for name in archive.namelist() if name.startswith("samples/")), key=_task_and_epoch
        )
        if not names:
            raise UserError(f"{path}: expected inspect_ai's samples/ inside, got {archive.namelist()[:8]}")
        for name in names:
            yield as_object(member(archive, name), f"{path}, {name}")


def _task_and_epoch(name: str) -> tuple[str, int]:
    """A task's samples by number: as a text, epoch 10 would stand before epoch 2."""
    task, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    return (task, int(epoch)) if epoch.isdecimal() else (name, 0)


def _reply(sample: dict[str, Any], path: Path) -> str:
    """The first choice's text; a content of several parts joined, reasoning left out."""
    try:
        content = sample["output"]["choices"][0]["message"]["content"]
    except (LookupError, TypeError):
        raise UserError(
            f"{path}: sample {sample.get('id')!r} has no output.choices[0].message.content"
        ) from None
    if isinstance(content, str):
        return content
    where = f"{path}, sample {sample.get('id')!r}, content"
    if not isinstance(content, list):
        raise UserError(f"{where}: expected a text or its parts, got {content!r:.80}")
    parts = [object_of(part, where) for part in content]
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def _message(error: Any) -> str:
    """The first line of an error's message."""
    message = error.get("message") if isinstance(error, dict) else error
    return next(iter(str(message).splitlines()), "")[:MOST_CHARACTERS]


def _prompt(sample: dict[str, Any]) -> str:
    return sample["input"] if isinstance(sample.get("input"), str) else ""
