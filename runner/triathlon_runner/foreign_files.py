"""Reads files and JSON that others wrote: plain or packed, in any encoding of Unicode, and bounded.

A few megabytes can unpack to more than any memory holds, and a link in a folder that somebody hands in can
lead to any file of this machine.
"""

import bz2
import codecs
import gzip
import json
import lzma
import os
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import IO, Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from triathlon_runner.errors import UserError

MOST_BYTES: Final = 512 << 20
"""Of one file, unpacked. The largest logs of the programs that we read have a fifth of that."""
MOST_BYTES_OF_MEMBERS: Final = 8 * MOST_BYTES
"""Of all members of an archive that are read one after another."""
LINK: Final = "a link"
"""How `why_not_plain` begins to name one."""
_PIECE: Final = 1 << 20
_ZSTD: Final = 93
"""How a zip file names this compression."""
_LOCAL_HEADER: Final = 30
"""Bytes before a member's name; the last four say how long name and extra field are."""
_MANGLED: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, BadZipFile, struct.error, ValueError)
_ENCODINGS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_READ: Final = (
    (b"7z\xbc\xaf\x27\x1c", 0, "packed with 7-Zip; unpack it first"),
    (b"Rar!", 0, "packed with RAR; unpack it first"),
    (b"ustar", 257, "a tar archive; unpack it, and name the folder"),
    (b"PAR1", 0, "a Parquet file; write its rows as JSON lines"),
)
_LONE_SURROGATE: Final = re.compile(
    rb"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Half a pair of JSON's escapes, such as `\\ud800`; group 1: an escaped backslash, or a whole pair."""
_WORDS: Final = (
    (r"Value error, ", ""),
    (r"Input should be (?=greater|less)", "expected a number "),
    (r"Input should be", "expected"),
    (r"a valid (list|tuple)", "a list (lines that begin with `- `, or [a, b])"),
    (r"a valid dictionary.*", "a mapping (`name: value`)"),
    (r"a valid string", "text (a number or a word such as yes is text in quotes)"),
    (r"a valid integer.*", "a whole number"),
    (r"a valid boolean.*", "true or false"),
    (r"Field required", "required and not there; add it"),
    (r"String should have at least 1 character", "expected text that is not empty"),
    (r"\w+ should have at least (\d+) items? after validation.*", r"expected at least \1 of these"),
)
"""What stands in pydantic's messages, and what it means to somebody who writes the file."""
_Stream = IO[bytes] | BufferedIOBase


class UnreadableFileError(UserError):
    """A file that cannot be read or unpacked, or unpacks to more than is read."""


def read_file(path: Path) -> bytes:
    """Returns the text of a file as UTF-8 without a byte order mark, unpacked."""
    with _naming(path), path.open("rb") as file:
        return as_utf8(unpacked(_bounded(file)))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Makes one error, with the path, of all that reading and unpacking raise."""
    try:
        yield
    except UnreadableFileError as error:
        raise UnreadableFileError(f"cannot read {str(path)!r}: {error}") from None
    except (*_MANGLED, NotImplementedError, RuntimeError) as error:  # RuntimeError: a password is needed
        why = error.strerror if isinstance(error, OSError) else None
        raise UnreadableFileError(f"cannot read {str(path)!r}: {why or _damaged(error)}") from None


def unpacked(data: bytes) -> bytes:
    """Returns the bytes of a file, unpacked where gzip, zip, xz, bzip2 or zstd packed it."""
    for start, offset, what in _NOT_READ:
        if data.startswith(start, offset):
            raise UnreadableFileError(f"it is {what}")
    opener = next((opener for start, opener in _PACKINGS if data.startswith(start)), None)
    if opener is None:
        return data
    try:
        return _bounded(opener(BytesIO(data)))
    except (*_MANGLED, NotImplementedError, RuntimeError) as error:
        raise UnreadableFileError(_damaged(error)) from None


def as_utf8(data: bytes) -> bytes:
    """Returns a text in UTF-8 without a byte order mark; halves of UTF-16's pairs are replaced."""
    encoding = next((encoding for mark, encoding in _ENCODINGS if data.startswith(mark)), None)
    if encoding is None and b"\0" in data[:2]:
        encoding = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
    if encoding is None:
        return data
    return data.decode(encoding, errors="replace").encode() if encoding != "utf-8-sig" else data[3:]


def clean(text: str) -> str:
    """The text without lone surrogates, which no file could hold; two halves are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_json(text: str | bytes) -> Any:
    """Returns what a JSON text holds.

    Raises:
        ValueError: it is no JSON, or is nested too deeply to be read (a hundred thousand brackets).
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None


def parse_foreign_json(text: bytes) -> Any:
    """Returns what a JSON text holds, without lone surrogates (`\\ud800`), which no record could hold.

    Raises:
        ValueError: it is no JSON, or is nested too deeply.
    """
    if text.strip() == b"{":
        raise ValueError("an object in several lines: write each in one, as `jq --compact-output` does")
    if b"\xed" in text:  # written as they are, too
        text = clean(text.decode(errors="surrogatepass")).encode()
    return parse_json(_LONE_SURROGATE.sub(lambda found: found[1] or rb"\ufffd", text))


def json_document(content: bytes) -> Any:
    """Returns the value of a file that is one JSON document; None for lines, of which each is a document."""
    start, _, rest = content.strip().partition(b"\n")
    if content.lstrip()[:1] not in {b"[", b"{"} or (rest and _parsed(start) is not None):
        return None
    return _parsed(content)


def _parsed(text: bytes) -> Any:
    try:
        return parse_foreign_json(text)
    except ValueError:
        return None


def json_lines(
    path: Path, content: bytes | None = None, broken: list[str] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects of a JSONL file or an array, each with the words for its place: `s.jsonl, line 3`.

    `content` is what `read_file` gave; left out, the file is read. `broken` gets what is wrong with a line
    that is no JSON object, such as a torn one; the others count.

    Raises:
        UserError: a line that is no JSON object, where there is no `broken`; names the line.
    """
    content = read_file(path) if content is None else content
    document = json_document(content)
    if isinstance(document, list):
        for number, row in enumerate(document, start=1):
            where = f"{path}, entry {number}"
            yield where, object_of(row, where)
        return
    if isinstance(document, dict) and b"\n" in content.strip():
        keys = ", ".join(sorted(document)[:6])
        raise UserError(
            f"{path}: expected an object a line, got one JSON document with the keys {keys}; name the file of"
            " the lines (lm-evaluation-harness: samples_*.jsonl)"
        )
    yield from object_lines(path, content, broken)


def object_lines(
    path: Path, content: bytes, broken: list[str] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects of JSONL, one a line, each with its place; otherwise as `json_lines`."""
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            try:
                row = as_object(line, where)
            except UserError as error:
                if broken is None:
                    raise
                broken.append(str(error))
            else:
                yield where, row


def as_object(text: bytes, where: str) -> dict[str, Any]:
    """Parses one JSON object."""
    try:
        return object_of(parse_foreign_json(text), where)
    except ValueError as error:
        raise UserError(f"{where}: expected JSON, {error}; got {text[:80]!r}") from None


def object_of(value: Any, where: str) -> dict[str, Any]:
    """Returns a value that is an object; an empty object for None."""
    if value is not None and not isinstance(value, dict):
        raise UserError(f"{where}: expected a JSON object, got {value!r:.80}; is this the right format?")
    return value or {}


def in_words(fault: Mapping[str, Any]) -> str:
    """Returns what pydantic found, without its terms; of many allowed values the first two."""
    if fault["type"] == "enum":
        first, second = fault["ctx"]["expected"].replace(" or ", ", ").split(", ")[:2]
        return f"expected one of {first}, {second}, …"
    message = str(fault["msg"])
    for pattern, words in _WORDS:
        message = re.sub(f"^{pattern}" if pattern[0].isupper() else pattern, words, message)
    return message


def members(path: Path) -> list[str] | None:
    """Returns the names in a zip file; None for another kind of file."""
    with _naming(path):
        if not is_zipfile(path):
            return None
        with ZipFile(path) as archive:
            return archive.namelist()


def read_members(path: Path, names: Sequence[str]) -> Iterator[bytes]:
    """Yields the content of members of a zip file, in the order of their names here."""
    size = 0
    with _naming(path), ZipFile(path) as archive:
        for name in names:
            content = _bounded(_member(archive, archive.getinfo(name)))
            size += len(content)
            if size > MOST_BYTES_OF_MEMBERS:
                raise _too_large(MOST_BYTES_OF_MEMBERS)
            yield as_utf8(content)


def files_below(folder: Path, pattern: str = "*") -> Iterator[Path]:
    """Yields the plain files below a folder whose names match, in order; links are not followed."""
    for path in sorted(folder.rglob(pattern)):
        if why := why_not_plain(path, folder):
            raise UserError(f"expected only files and folders in {str(folder)!r}, got {why}; remove it")
        if path.is_file():
            yield path


def why_not_plain(path: Path, root: Path) -> str:
    """Returns what keeps a path below `root` from being read as it is, in words; empty where nothing does.

    That is a link on the way from `root`, or in place of the file, and a pipe or device.
    """
    way = path.relative_to(root).parts
    for depth in range(1, len(way) + 1):
        part = "/".join(way[:depth])
        try:
            mode = os.lstat(root / part).st_mode
        except OSError as error:
            return f"nothing that can be read at {part!r} ({error.strerror})"
        if stat.S_ISLNK(mode):
            return f"{LINK} at {part!r}"
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return f"a pipe or device at {part!r}"
    return ""


def why_no_file(path: Path, root: Path) -> str:
    """Returns what keeps a path from being read as a file, as `why_not_plain` does; a folder is none."""
    return why_not_plain(path, root) or ("a folder" if path.is_dir() else "")


def _bounded(stream: _Stream) -> bytes:
    content = BytesIO()
    while piece := stream.read(_PIECE):
        if content.tell() + len(piece) > MOST_BYTES:
            raise _too_large(MOST_BYTES)
        content.write(piece)
    return content.getvalue()


def _too_large(most: int) -> UnreadableFileError:
    return UnreadableFileError(f"expected at most {most >> 20} MiB unpacked, got more; split it")


def _damaged(error: Exception) -> str:
    return f"it cannot be unpacked: {error}; is the file whole?"


def _only_member(file: BytesIO) -> _Stream:
    archive = ZipFile(file)
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) != 1:
        names = ", ".join(info.filename for info in infos[:5])
        if infos and infos[0].filename == "_journal/start.json":
            raise UnreadableFileError("it is a log of inspect_ai, which `triathlon import inspect` reads")
        raise UnreadableFileError(
            f"it is a zip of {len(infos)} files ({names}); unpack it, and name the folder"
        )
    return _member(archive, infos[0])


def _member(archive: ZipFile, info: ZipInfo) -> _Stream:
    if info.compress_type != _ZSTD:
        return archive.open(info)
    assert archive.fp is not None, "the archive is open"
    archive.fp.seek(info.header_offset)
    name, extra = struct.unpack("<HH", archive.fp.read(_LOCAL_HEADER)[-4:])
    archive.fp.seek(name + extra, 1)
    content = _bounded(_from_zstd(BytesIO(archive.fp.read(info.compress_size))))
    if zlib.crc32(content) != info.CRC:
        raise BadZipFile("its checksum differs")
    return BytesIO(content)


def _from_zstd(file: BytesIO) -> _Stream:
    """What is packed with zstd, which Python cannot unpack before 3.14."""
    import pyarrow as pa  # noqa: PLC0415  a third of a second, for this alone

    stream: Any = pa.CompressedInputStream(pa.BufferReader(file.getvalue()), "zstd")
    return BytesIO(_bounded(stream))


_PACKINGS: Final[tuple[tuple[bytes, Callable[[BytesIO], _Stream]], ...]] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    (b"PK\x03\x04", _only_member),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
    (b"BZh", bz2.BZ2File),
    (b"\x28\xb5\x2f\xfd", _from_zstd),
)
PACKED_ENDINGS: Final = (".gz", ".zip", ".xz", ".bz2", ".zst")
"""How names of files that are packed so end."""
