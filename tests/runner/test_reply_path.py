"""docs/architecture.md names the files that a reply passes on its way into `results/`; they are few."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2

import triathlon_runner
from support.loop_fakes import ADD
from support.loop_run import LoopRun
from support.model_server import ModelServer
from triathlon_runner.endpoints import Answer
from triathlon_runner.endpoints.provider import HttpReply, ParsedReply
from triathlon_runner.records import Reply, UnitRecord

PACKAGE = Path(triathlon_runner.__file__).parent
PAGE = Path(__file__).parents[2] / "docs/architecture.md"
REPLY_TYPES = (httpx2.Response, HttpReply, ParsedReply, Reply, Answer, UnitRecord)
"""What a reply is at each stage."""
BESIDE_THE_PATH = {"extraction/_program.py", "schedule/_panel.py", "endpoints/_server_info.py"}
"""Here the path of the program begins; the panel only shows that a unit is done; and what a server says about
itself is another reply."""


class Follower:
    """A profile function: notes the files of the package with a function that has a reply in a variable."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(f"{PACKAGE}/"):
            return
        values = [value, *(local for name, local in frame.f_locals.items() if name != "self")]
        if any(isinstance(each, REPLY_TYPES) for each in values):
            self.files.add(Path(code.co_filename).relative_to(PACKAGE).as_posix())


def documented_path() -> list[str]:
    """The files that the numbered list under "The path of one reply" names."""
    section = PAGE.read_text("utf-8").split("The path of one reply")[1].split("The path of one program")[0]
    steps = " ".join(re.findall(r"^\d\. .*(?:\n   .*)*", section, re.MULTILINE))
    return re.findall(r"`([\w/]+\.py)`", steps)


async def test_the_documented_files_are_those_that_a_reply_passes(tmp_path: Path) -> None:
    """From the HTTP client to the line in `results/` a reply goes through 8 files, all in the document."""
    follower = Follower()
    async with ModelServer(lambda _: "no program") as server:
        run = LoopRun(tmp_path, server.base_url, problems=[ADD])
        sys.setprofile(follower)
        try:
            await run()
        finally:
            sys.setprofile(None)
    assert len(run.records()) == 1
    assert follower.files - BESIDE_THE_PATH == set(documented_path())
    assert len(documented_path()) == 8
