"""docs/architecture.md names the files that a reply passes on its way into `results/`; they are few."""

import sys
from pathlib import Path
from types import FrameType

import httpx2
import pytest

from support.code_path import PACKAGE, Follower, documented_path
from support.small_run import served
from triathlon_runner.llm import Answer
from triathlon_runner.llm.provider import HttpReply
from triathlon_runner.records import Reply, UnitRecord
from triathlon_runner.schedule import Runner
from triathlon_runner.suites import UnitRun

REPLY_TYPES = (httpx2.Response, HttpReply, Reply, Answer, UnitRecord)
"""What a reply is at each stage."""
BESIDE_THE_PATH = {"concurrency.py", "replies/_program.py"}
"""`in_other_process` calls what reads a reply, here or in another process; the path of the program begins in
`replies/_program.py`."""


RUN = "run --suites loop/core --limit 1"


def test_the_documented_files_are_those_that_a_reply_passes(tmp_path: Path) -> None:
    """From the HTTP client to the line in `results/` a reply goes through these files and no others."""
    path = documented_path("The path of one reply", "The path of one program")
    follower = Follower(REPLY_TYPES, in_locals=True)
    with served(tmp_path, "support.server_scripts:echo") as place, follower:
        place.expect(RUN, 0)
    assert follower.files - BESIDE_THE_PATH == set(path)


def test_one_loop_unit_executes_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of what happens to one unit, from its first question to its line, opens at most 50 files."""
    files: set[str] = set()

    def note(frame: FrameType, _event: str, _value: object) -> None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PACKAGE) and path.parent != PACKAGE / "cli":  # which is behind the line
            files.add(str(path))

    def counted(*unit: object) -> UnitRun:
        sys.setprofile(note)
        return UnitRun(*unit)  # type: ignore[arg-type]

    monkeypatch.setattr(f"{Runner.__module__}.UnitRun", counted)
    with served(tmp_path) as place:
        try:
            place.expect(RUN, 0)
        finally:
            sys.setprofile(None)
    assert 30 < len(files) <= 50, sorted(files)
