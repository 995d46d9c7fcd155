"""docs/architecture.md names the files that a reply passes on its way into `results/`; they are few."""

import sys
from pathlib import Path
from types import FrameType

import httpx2
import pytest

from support.code_path import Follower, documented_path
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


def holds_a_reply(frame: FrameType, value: object) -> bool:
    held = (each for name, each in frame.f_locals.items() if name != "self")
    return any(isinstance(each, REPLY_TYPES) for each in (value, *held))


def test_the_documented_files_are_those_that_a_reply_passes(tmp_path: Path) -> None:
    """From the HTTP client to the line in `results/` a reply goes through these files and no others."""
    follower = Follower(holds_a_reply)
    with served(tmp_path, "support.server_scripts:echo") as place, follower:
        place.expect(RUN, 0)
    path = documented_path("The path of one reply", "The path of one program")
    assert follower.files - BESIDE_THE_PATH == path


def test_one_loop_unit_executes_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of what happens to one unit, from its first question to its line, opens at most 50 files."""
    follower = Follower()

    def counted(*unit: object) -> UnitRun:
        sys.setprofile(follower)
        return UnitRun(*unit)  # type: ignore[arg-type]

    monkeypatch.setattr(f"{Runner.__module__}.UnitRun", counted)
    with served(tmp_path) as place:
        try:
            place.expect(RUN, 0)
        finally:
            sys.setprofile(None)
    files = {file for file in follower.files if not file.startswith("cli/")}  # which is behind the line
    assert 30 < len(files) <= 50, sorted(files)
