"""A killed run asks again only for what was in flight."""

import asyncio
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from support.model_server import ModelServer
from support.server_scripts import echo

ASKER = Path(__file__).with_name("asker.py")
QUESTIONS, SLOTS = 200, 8


async def run_asker(server: ModelServer, cache: Path, kill_after: int | None) -> set[int]:
    """The numbers of the questions whose answers arrived, to the end or to a kill after so many requests."""
    command = [sys.executable, str(ASKER), server.base_url, str(cache), str(QUESTIONS), str(SLOTS)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    before = server.count
    reading = asyncio.create_task(process.stdout.read())
    if kill_after is not None:
        while server.count - before < kill_after:  # noqa: ASYNC110  the server knows no events
            await asyncio.sleep(0.001)
        await asyncio.sleep(random.random() * 0.01)
        process.kill()
    output = await reading
    assert await process.wait() == (0 if kill_after is None else -9)
    return {int(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")}


@pytest.mark.parametrize(
    ("seed", "kills"), [(1, 1), *(pytest.param(seed, 4, marks=pytest.mark.slow) for seed in range(2, 7))]
)
async def test_kill(tmp_path: Path, seed: int, kills: int) -> None:
    """Killed several times at random moments and then left alone, a run has all its answers.

    No answer that had arrived is asked for again, and what is asked twice is no more than was in flight: what
    waited for the server, and what was on its way from there to the disk.
    """
    rng = random.Random(seed)
    cache = tmp_path / "replies.sqlite"
    arrived: set[int] = set()
    async with ModelServer(echo, latency=0.01) as server:
        for _ in range(kills):
            start = server.count
            here = await run_asker(server, cache, kill_after=rng.randrange(1, 30))
            asked = {int(request.prompt) for request in server.requests[start:]}
            assert not asked & arrived
            arrived |= here
        start = server.count
        assert await run_asker(server, cache, kill_after=None) == set(range(QUESTIONS))
        assert not {int(request.prompt) for request in server.requests[start:]} & arrived
    times = Counter(int(request.prompt) for request in server.requests)
    assert set(times) == set(range(QUESTIONS))
    assert server.count <= QUESTIONS + kills * 2 * SLOTS
