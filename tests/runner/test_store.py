"""The results folder."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from support.hashes import hashes
from support.results import fake_manifest
from triathlon_runner.errors import UserError
from triathlon_runner.records import Outcome, UnitRecord
from triathlon_runner.store import (
    ResultsFile,
    ResultsFolder,
    UnreadableManifestError,
    archive,
    archived,
    read_records,
    replace_file,
)


def record(task_id: str) -> UnitRecord:
    return UnitRecord(
        suite="loop/core", model="m", task_id=task_id, protocol=hashes("p"), outcome=Outcome.PASSED
    )


def append(path: Path, *task_ids: str) -> None:
    with ResultsFile(path, UnitRecord) as file:
        for each in map(record, task_ids):
            file.append(each)


def tasks(path: Path) -> list[str]:
    return [each.task_id for each in read_records(path, UnitRecord)]


def test_half_a_copy_is_no_archived_file(tmp_path: Path) -> None:
    """Where there is no room for a copy in the archive, none is listed, and the file stays as it was."""
    folder = ResultsFolder(tmp_path)
    append(folder.lines("m", "loop/core"), *map(str, range(50)))
    before, limits = folder.lines("m", "loop/core").read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(UserError, match="make room or make it writable and run again"):
            archive(folder, "m", "loop/core", copy=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(archived(folder)) == []
    assert folder.lines("m", "loop/core").read_bytes() == before


def test_an_archive_replaces_nothing(tmp_path: Path) -> None:
    """Numbers in it are never given again, also where some were deleted."""
    folder, places = ResultsFolder(tmp_path), list[Path]()
    for number in range(3):
        append(folder.lines("m", "loop/core"), f"{number}")
        places.append(archive(folder, "m", "loop/core"))
        if number == 1:
            places[0].unlink()
    assert [tasks(place) for place in places[1:]] == [["1"], ["2"]]


def test_what_was_appended_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each, though a system may write less than it is given; a sorted file has the suite's order."""
    path = tmp_path / "runs/m/loop/core.jsonl"
    append(path, "c", "a")
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data)[:7]))
    append(path, "b")
    monkeypatch.undo()
    assert tasks(path) == ["c", "a", "b"]
    assert [json.loads(line)["schema"] for line in path.read_text().splitlines()] == [1, 1, 1]
    with ResultsFile(path, UnitRecord) as file:
        file.sort([("a", 0), ("b", 0), ("c", 0), ("d", 0)])
        file.append(record("d"))
    assert tasks(path) == ["a", "b", "c", "d"]


def test_a_file_that_something_else_changed_is_read_again(tmp_path: Path) -> None:
    """Such as a checkout of committed results while a run goes on: no line is cut or lost by sorting."""
    path = tmp_path / "runs/m/loop/core.jsonl"
    order = [(task, 0) for task in "abcd"]
    append(path, "d", "c")
    committed = path.read_bytes().replace(b'"sample":', b' "sample": ')
    with ResultsFile(path, UnitRecord) as file:
        file.append(record("b"))
        path.write_bytes(committed)
        file.append(record("a"))
        file.sort(order)
        assert list(file.units) == [("a", 0), ("c", 0), ("d", 0)] and file.size == path.stat().st_size
        assert tasks(path) == ["a", "c", "d"]
        path.unlink()
        file.sort(order)
        assert (list(file.units), file.size) == ([], 0)


@pytest.mark.parametrize("torn", [b'{"schema": 1, "suite": "loo', b"x" * 200_000, b"\xff\xfe"])
def test_a_torn_last_line_is_set_aside(tmp_path: Path, torn: bytes) -> None:
    """A last line without newline is moved to `.torn`, whatever it holds; the lines before it stay."""
    path = tmp_path / "runs/m/loop/core.jsonl"
    append(path, "a")
    path.write_bytes(path.read_bytes() + torn)
    said: list[str] = []
    unopened = ResultsFile(path, UnitRecord)
    unopened.scan()  # without opening it for writing
    assert list(unopened.units) == [("a", 0)]
    for _ in range(2):
        with ResultsFile(path, UnitRecord, said.append) as file:
            assert list(file.units) == [("a", 0)]
    append(path, "b")
    assert tasks(path) == ["a", "b"]
    aside = path.with_name("core.jsonl.torn")
    assert aside.read_bytes() == torn + b"\n"
    (message,) = said
    assert str(path) in message and f"moved to {str(aside)!r}; its unit is asked again" in message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (b"not json", "expected a JSON object"),
        ({"suite": None}, "suite: "),
        ({"schema": 99}, "another version wrote it"),
        ({"outcome": "wrong"}, r"\(outcome: expected one of 'passed', 'failed', …, got 'wrong'\)"),
        ({"task_id": "a"}, "got a second of 'a', sample 0: the other is line 1"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, change: bytes | dict[str, object], said: str) -> None:
    """A complete line that is no record stops the run with file and line; the file is left as it was."""
    path = tmp_path / "core.jsonl"
    append(path, "a", "b")
    first, second = path.read_bytes().splitlines()
    line = change if isinstance(change, bytes) else json.dumps(json.loads(second) | change).encode()
    before = first + b"\n" + line + b"\n"
    path.write_bytes(before)
    with pytest.raises(UserError, match=f"line 2: .*{said}"), ResultsFile(path, UnitRecord):
        pass
    with pytest.raises(UserError, match=f"line 2: .*{said}"):
        tasks(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("settings", {"sampling": 5}, "settings: sampling"),
        ("settings", {"sampling": {"temperature": "hot"}}, "settings: sampling.temperature"),
        ("settings", {"judge": "a"}, "settings: judge"),
        ("settings", {"mine": float("nan")}, "settings"),
        ("identity", {"unsupported": 5}, "identity: unsupported"),
        ("outcomes", {"won": 1}, "outcomes"),
        ("open_reasons", {"a reason": -1}, "open_reasons"),
        ("bytes", -1, "bytes"),
        ("python_versions", ["latest"], "python_versions"),
    ],
)
def test_each_field_of_a_manifest_is_checked(tmp_path: Path, field: str, value: object, named: str) -> None:
    folder = ResultsFolder(tmp_path)
    folder.write_manifest(fake_manifest("m", "loop/core", []))
    assert folder.read_manifest("m", "loop/core") is not None
    path = folder.manifest("m", "loop/core")
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(UnreadableManifestError, match=named):
        folder.read_manifest("m", "loop/core")


def test_what_is_no_file_or_folder(tmp_path: Path) -> None:
    """Is never replaced by one: not a pipe, and not what stands in /dev."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, "a report\n")
    assert os.read(reader, 100) == b"a report\n"
    os.close(reader)
    assert pipe.is_fifo()
    command = "from pathlib import Path; from triathlon_runner.store import replace_file"
    code = f"{command}; replace_file(Path('/dev/stdout'), 'a report')"
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed == "a report" and Path("/dev/stdout").is_symlink()
    with pytest.raises(UserError, match=r"cannot write '\.'"):
        replace_file(Path(), "a report")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write to the results folder"):
        ResultsFolder(tmp_path / "file" / "results").check_writable()
