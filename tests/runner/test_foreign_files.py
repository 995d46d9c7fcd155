"""Files that others wrote: packed or plain, they are read, or refused with what they are."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def imported_from(form: str, path: Path) -> list[Any]:
    return list(FORMATS[form].read(path))


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
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
    """Each way of packing and each encoding of Unicode gives the same text."""
    path = tmp_path / "s"
    path.write_bytes(PACKERS[packing](TEXT.encode(encoding)))
    assert read_file(path) == TEXT.encode()


@pytest.mark.parametrize("packing", [name for name in PACKERS if name != "plain"])
def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    """No more is unpacked than the bound; the message has it."""
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
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    """A user's error with the file and what it is."""
    path = tmp_path / "s"
    path.write_bytes(content)
    with pytest.raises(UserError, match=said) as caught:
        read_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (encrypted(zipped({"samples/a_epoch_1.json": b"{}"})), "is encrypted"),
        (zipped({f"samples/a_epoch_{'9' * 5000}.json": b"{"}), "JSON"),
        (zipped({"samples/é": b"{}"}).replace("é".encode(), b"\xff\xfe"), "invalid start byte"),
    ],
    ids=["encrypted", "an epoch of 5,000 digits", "a name that is no UTF-8"],
)
def test_an_odd_inspect_log_is_a_users_error(tmp_path: Path, content: bytes, said: str) -> None:
    """No traceback, whatever its members are called."""
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    with pytest.raises(UserError, match=said):
        imported_from("inspect", path)


def test_loops_of_5000_digits_are_unknown(tmp_path: Path) -> None:
    """EVALOOOP's counts of loops are the keys of an object."""
    path = tmp_path / "page.json"
    path.write_text('{"%s": [{"task_id": "a", "initial_prompt": "", "cycles": []}]}' % ("9" * 5000))
    (loop,) = imported_from("evaloop", path)
    assert loop.sustained_loops is None


@pytest.mark.parametrize("generation", ["5", '[{"input_idx": 1e999, "results": []}]', "[5]"])
def test_an_odd_log_of_reval_is_a_users_error(tmp_path: Path, generation: str) -> None:
    """Numbers where lists belong, and those that are no index."""
    for question in ("coverage", "state", "path", "output"):
        (tmp_path / f"{question}@x").mkdir()
        log = f'{{"task_id": "DREval/0", "generation": {generation}}}\n'
        (tmp_path / f"{question}@x/1.jsonl").write_text(log)
    with pytest.raises(UserError, match="line 1: expected REval's results"):
        imported_from("reval", tmp_path)


def test_half_an_emoji_in_too_many_lists_is_no_json(request: pytest.FixtureRequest) -> None:
    """As lists that are nested too deeply for Python's own reader are, at Python's own limit."""
    limit = sys.getrecursionlimit()
    request.addfinalizer(lambda: sys.setrecursionlimit(limit))  # other tests' libraries raise it
    sys.setrecursionlimit(1000)
    with pytest.raises(ValueError, match="recursion"):
        parse_foreign_json(b"[" * 900 + rb'"\ud800"' + b"]" * 900)


def test_half_an_emoji_is_replaced() -> None:
    """No record could hold it; whole ones and an escaped backslash stay."""
    assert parse_foreign_json(rb'{"a\ud800": ["\ud83d\ude00", "\ud83d!", "\\ud800"]}') == {
        "a�": ["😀", "�!", "\\ud800"]
    }


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_no_link_in_a_folder_is_followed(tmp_path: Path, kind: str) -> None:
    """Neither by `grade` nor by `import`."""
    secret = tmp_path / "secret"
    (secret / "t").mkdir(parents=True)
    (secret / "t" / "0.py").write_text("secret")
    (secret / "s.jsonl").write_text(TEXT)
    folder = tmp_path / "samples"
    (folder / "t").mkdir(parents=True)
    (folder / "t" / "1.py").write_text("x = 1")
    link, target = (folder / "t/0.py", secret / "t/0.py") if kind == "file" else (folder / "u.py", secret)
    link.symlink_to(target)
    for read in (lambda: list(files_below(folder)), lambda: read_samples(folder, [])):
        with pytest.raises(UserError, match="got a link at"):
            read()
