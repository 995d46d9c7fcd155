"""inspect_ai's logs: `.eval` is a zip of a header and one JSON file a sample, `.json` is all in one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignReply, as_object, task_name, whole
from triathlon_runner.imports._zip import member


def read_inspect(path: Path) -> Iterator[Foreign]:
    """Each sample's `id` is the task, its `output` the reply. Samples that ended in an error are left out.

    Raises:
        UserError: the file is no such log.
    """
    for sample in _samples(path):
        if sample.get("error") is None:
            yield ForeignReply(task_name(sample.get("id")) or "", _reply(sample, path), _prompt(sample))


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    if not is_zipfile(path):
        log = as_object(whole(path), str(path))
        if not isinstance(log.get("samples"), list):
            raise UserError(f"{path}: expected inspect_ai's log with its samples, got keys {sorted(log)[:8]}")
        yield from log["samples"]
        return
    with ZipFile(path) as archive:
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
    return "".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def _prompt(sample: dict[str, Any]) -> str:
    return sample["input"] if isinstance(sample.get("input"), str) else ""
