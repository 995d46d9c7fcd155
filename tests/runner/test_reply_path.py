"""docs/architecture.md names the files that a reply passes on its way into `results/`; they are few."""

from pathlib import Path

import httpx2

from support.code_path import Follower, documented_path
from support.loop_fakes import ADD
from support.loop_run import LoopRun
from support.model_server import ModelServer
from triathlon_runner.llm import Answer
from triathlon_runner.llm.provider import HttpReply
from triathlon_runner.records import Reply, UnitRecord

REPLY_TYPES = (httpx2.Response, HttpReply, Reply, Answer, UnitRecord)
"""What a reply is at each stage."""
BESIDE_THE_PATH = {"concurrency.py", "replies/_program.py"}
"""`in_other_process` calls what reads a reply, here or in another process; the path of the program begins in
`replies/_program.py`."""


async def test_the_documented_files_are_those_that_a_reply_passes(tmp_path: Path) -> None:
    path = documented_path("The path of one reply", "The path of one program")
    follower = Follower(REPLY_TYPES, in_locals=True)
    async with ModelServer(lambda _: "no program") as server:
        run = LoopRun(tmp_path, server.base_url, problems=[ADD])
        with follower:
            await run()
    assert len(run.records()) == 1
    assert follower.files - BESIDE_THE_PATH == set(path)
