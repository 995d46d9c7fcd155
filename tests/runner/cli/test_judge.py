"""A judge that is lost on the way, on the real command."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from support.core_model import answer
from support.model_server import ModelServer
from support.server_replies import Asked, Response, Said, Status
from triathlon_runner.records import LoopRecord
from triathlon_runner.store import ResultsFolder, read_records

COMMAND = [sys.executable, "-c", "from triathlon_site.cli import main; main()"]
ROWS = """
judge: the-judge
models:
  - {{id: m, api: {{base_url: "{url}", model: scripted}}}}
  - {{id: the-judge, api: {{base_url: "{judge}", model: scripted}}}}
"""
TASKS = "8"


async def call(root: Path, *arguments: str) -> tuple[int, str]:
    """The command's exit code and what it said."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        cwd=root,
        env={**os.environ, "TRIATHLON_CACHE": str(root / "cache")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(120):
        output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


NO_QUOTA = Status(429, "You exceeded your current quota", "insufficient_quota")


@pytest.mark.parametrize(
    ("replies", "failure"),
    [
        pytest.param(0, Status(402, "Payment required"), id="402", marks=pytest.mark.slow),
        pytest.param(1, NO_QUOTA, id="quota"),
        pytest.param(0, Status(404, "no such model: scripted"), id="gone", marks=pytest.mark.slow),
    ],
)
async def test_a_lost_judge_ends_no_model(tmp_path: Path, replies: int, failure: Status) -> None:
    """Every unit is finished, similarities from then on are unknown, and the message names the judge."""

    def judge(asked: Asked) -> Response:
        return Said("0.5") if asked.number < replies else failure

    async with ModelServer(answer) as server, ModelServer(judge) as other:
        (tmp_path / "models.yaml").write_text(ROWS.format(url=server.base_url, judge=other.base_url))
        suites = ("run", "--models", "m", "--suites", "loop/core,evolved/core-seeds", "--limit", TASKS)
        code, said = await call(tmp_path, *suites)
    assert code == 0, said
    assert "0 open" in said
    assert "the judge the-judge cannot be asked any more" in said
    assert not any(line.startswith("m:") for line in said.splitlines())
    lines = ResultsFolder(tmp_path / "results").lines("m", "loop/core")
    found = [record for record in read_records(lines, LoopRecord) if 0 < record.sustained_loops < 10]
    known = [record.similarity for record in found if record.similarity is not None]
    assert known == [0.5] * replies
    assert len(found) > replies, "a task that failed behind a passed loop"
    code, said = await call(tmp_path, "verify")
    assert code == 0, said
