"""Members of zip files that inspect_ai packs with zstd, which Python itself cannot unpack before 3.14."""

import struct
import zlib
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from triathlon_runner.errors import UserError

_DAMAGED: Final = (BadZipFile, NotImplementedError)
_ZSTD: Final = 93
_LOCAL_HEADER: Final = 30
"""Bytes before a member's name; the last four say how long name and extra field are."""


def opened(path: Path) -> ZipFile:
    """A zip file, of which the list of members was read.

    Raises:
        UserError: it is damaged.
    """
    try:
        return ZipFile(path)
    except _DAMAGED as error:
        raise UserError(f"{path}: cannot be unpacked: {error}; is the file whole?") from None


def member(archive: ZipFile, name: str) -> bytes:
    """What one member holds.

    Raises:
        UserError: it is damaged.
    """
    info = archive.getinfo(name)
    try:
        return _unpacked(archive, info) if info.compress_type == _ZSTD else archive.read(info)
    except (*_DAMAGED, zlib.error, OSError, EOFError) as error:
        raise UserError(
            f"{archive.filename}, {name}: cannot be unpacked: {error}; is the file whole?"
        ) from None


def _unpacked(archive: ZipFile, info: ZipInfo) -> bytes:
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
