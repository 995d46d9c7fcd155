"""inspect_ai's logs: `.eval` is a zip of a header and one JSON file a sample, `.json` is all in one."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import (
    Foreign,
    ForeignReply,
    as_object,
    file_content,
    object_of,
    task_name,
)

_SHOWN: Final = 200
"""Characters of an error's message that are shown."""
_ZSTD: Final = 93
"""How a zip file names this compression."""
_LOCAL_HEADER: Final = 30
"""Bytes before a member's name; the last four say how long name and extra field are."""


def read_inspect(path: Path) -> Iterator[Foreign]:
    """Each sample's `id` is the task, its `output` the reply. A sample that ended in an error has none.

    Raises:
        UserError: the file is no such log.
    """
    for sample in _samples(path):
        task, error, prompt = task_name(sample.get("id")) or "", sample.get("error"), sample.get("input")
        if error is None:
            yield ForeignReply(task, _reply(sample, path), prompt if isinstance(prompt, str) else "")
        else:
            message = str(error.get("message") if isinstance(error, dict) else error)
            yield ForeignReply(task, "", error=message.partition("\n")[0][:_SHOWN])


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    if not is_zipfile(path):
        log = as_object(file_content(path), str(path))
        if not isinstance(log.get("samples"), list):
            raise UserError(f"{path}: expected inspect_ai's log with its samples, got keys {sorted(log)[:8]}")
        yield from (object_of(sample, f"{path}, samples") for sample in log["samples"])
        return
    try:
        with ZipFile(path) as archive:
            members = [member for member in archive.infolist() if member.filename.startswith("samples/")]
            if not members:
                names = archive.namelist()[:8]
                raise UserError(f"{path}: expected inspect_ai's samples/ inside, got {names}")
            for member in sorted(members, key=lambda member: _task_and_epoch(member.filename)):
                packed_with_zstd = member.compress_type == _ZSTD
                data = _read_zstd(archive, member) if packed_with_zstd else archive.read(member)
                yield as_object(data, f"{path}, {member.filename}")
    except (BadZipFile, NotImplementedError, zlib.error, OSError, EOFError) as error:
        raise UserError(f"{path}: cannot be unpacked: {error}; is the file whole?") from None


def _task_and_epoch(name: str) -> tuple[str, int]:
    """Returns what samples are sorted by: as a text, epoch 10 would stand before epoch 2."""
    task, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    return (task, int(epoch)) if epoch.isdecimal() else (name, 0)


def _reply(sample: dict[str, Any], path: Path) -> str:
    """Returns the text of the first choice: a content of several parts is joined, without reasoning."""
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


def _read_zstd(archive: ZipFile, info: ZipInfo) -> bytes:
    """Returns the bytes of a member packed with zstd, which Python's zipfile cannot unpack before 3.14."""
    import pyarrow as pa  # noqa: PLC0415  a third of a second, for this alone

    assert archive.fp is not None, "the archive is open"
    archive.fp.seek(info.header_offset)
    name, extra = struct.unpack("<HH", archive.fp.read(_LOCAL_HEADER)[-4:])
    archive.fp.seek(name + extra, 1)
    packed = pa.BufferReader(archive.fp.read(info.compress_size))
    data: bytes = pa.CompressedInputStream(packed, "zstd").read()
    if zlib.crc32(data) != info.CRC:
        raise BadZipFile("its checksum differs")
    return data
