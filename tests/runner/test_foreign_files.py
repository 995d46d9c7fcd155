"""Files that others wrote: packed or plain, they are read, or refused with what they are."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from triathlon_runner import foreign_files
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import files_below, parse_foreign_json, read_file, read_members
from triathlon_runner.grading._samples import read_samples
from triathlon_runner.imports import FORMATS

TEXT = '{"task_id": "a", "solution": "x = \'ä\'"}\n'
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "zip": lambda data: zipped({"s.jsonl": data}),
}


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():  # without the time of day, which would be in the names of tests
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def encrypted(data: bytes) -> bytes:
    """The same zip, whose headers say that its one member needs a password."""
    raw = bytearray(data)
    raw[raw.find(b"PK\x03\x04") + 6] |= 1
    raw[raw.find(b"PK\x01\x02") + 8] |= 1
    return bytes(raw)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packing", PACKERS)
def test_what_is_read(tmp_path: Path, packing: str, encoding: str) -> None:
    path = tmp_path / "s"
    path.write_bytes(PACKERS[packing](TEXT.encode(encoding)))
    assert read_file(path) == TEXT.encode()


@pytest.mark.parametrize("packing", [name for name in PACKERS if name != "plain"])
def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    monkeypatch.setattr(foreign_files, "MOST_BYTES", 2 << 20)
    path = tmp_path / "s"
    path.write_bytes(PACKERS[packing](b" " * (8 << 20)))
    with pytest.raises(UserError, match="at most 2 MiB unpacked"):
        read_file(path)


def test_members_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each member, and all together: many that unpack to the bound are a bomb, too."""
    path = tmp_path / "log.eval"
    path.write_bytes(zipped({f"samples/{number}.json": b" " * 2000 for number in range(4)}))
    names = [f"samples/{number}.json" for number in range(4)]
    for name, most in (("MOST_BYTES", 1000), ("MOST_BYTES_OF_MEMBERS", 5000)):
        with monkeypatch.context() as patch, pytest.raises(UserError, match="unpacked, got more"):
            patch.setattr(foreign_files, name, most)
            list(read_members(path, names))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"7z\xbc\xaf\x27\x1c....", "7-Zip"),
        (b"Rar!....", "RAR"),
        (b"PAR1....", "Parquet"),
        (bytes(257) + b"ustar", "a tar archive"),
        (gzip.compress(b"x" * 99, mtime=0)[:-9], "is the file whole"),
        (b"\xfd7zXZ\0....", "is the file whole"),
        (b"\x28\xb5\x2f\xfd....", "is the file whole"),
        (b"PK\x03\x04....", "is the file whole"),
        (zipped({"a": b"", "b": b""}), r"a zip of 2 files \(a, b\)"),
        (encrypted(zipped({"a": b"x"})), "is encrypted"),
        (zipped({"é": b"x"}).replace("é".encode(), b"\xff\xfe"), "invalid start byte"),
        (zipped({"a": b"x"})[:-6] + b"\xff\xff\xff\x7f\0\0", "negative seek value"),
        (encrypted(zipped({"samples/a_epoch_1.json": b"{}"})), "is encrypted"),
        (zipped({f"samples/a_epoch_{'9' * 5000}.json": b"{"}), "JSON"),
        (zipped({"samples/é": b"{}"}).replace("é".encode(), b"\xff\xfe"), "invalid start byte"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    """In a file of samples, and in a log of inspect_ai, whose samples are members."""
    path = tmp_path / "s"
    path.write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        read_file(path) if b"samples/" not in content else list(FORMATS["inspect"].read(path))
    assert str(path) in str(caught.value)


def test_half_an_emoji_is_replaced() -> None:
    """No record could hold it; whole ones and an escaped backslash stay. Endless lists are no JSON."""
    assert parse_foreign_json(rb'{"a\ud800": ["\ud83d\ude00", "\ud83d!", "\\ud800", "\\\ude00"]}') == {
        "a�": ["😀", "�!", "\\ud800", "\\�"]
    }
    assert parse_foreign_json(b'"\xed\xa0\xbd \xed\x95\x9c"') == "� 한"
    with pytest.raises(ValueError, match="recursion"):
        parse_foreign_json(b"[" * 100_000)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_no_link_in_a_folder_is_followed(tmp_path: Path, kind: str) -> None:
    """Neither by `grade` nor by `import`."""
    secret = tmp_path / "secret"
    (secret / "t").mkdir(parents=True)
    (secret / "t" / "0.py").write_text("secret")
    folder = tmp_path / "samples"
    (folder / "t").mkdir(parents=True)
    (folder / "t" / "1.py").write_text("x = 1")
    link, target = (folder / "t/0.py", secret / "t/0.py") if kind == "file" else (folder / "u.py", secret)
    link.symlink_to(target)
    for read in (lambda: list(files_below(folder)), lambda: read_samples(folder, [])):
        with pytest.raises(UserError, match="got a link at"):
            read()
