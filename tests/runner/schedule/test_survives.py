"""A run that is killed, has no room, or stands beside another: nothing is lost, invented or doubled."""

import asyncio
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

from support.model_server import ModelServer
from support.server_replies import Asked
from triathlon_runner.records import UnitRecord
from triathlon_runner.store import read_records

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("one_run.py")
TASKS, SLOTS = 120, 8
LINES = Path("results/runs/m/evolved/fake.jsonl")


def says(asked: Asked) -> str:
    """The task's own name, which passes, for two thirds of the tasks."""
    return asked.prompt if int(asked.prompt.split()[1]) % 3 else "something else"


async def start(server: ModelServer, root: Path, limit: int = 0) -> asyncio.subprocess.Process:
    command = [sys.executable, str(SCRIPT), server.base_url, str(root), str(TASKS), str(limit)]
    tests = str(Path(__file__).parents[2])
    return await asyncio.create_subprocess_exec(
        *command, env={"PYTHONPATH": tests}, stderr=asyncio.subprocess.PIPE
    )


async def finish(server: ModelServer, root: Path, limit: int = 0) -> tuple[int | None, str]:
    process = await start(server, root, limit)
    _, said = await process.communicate()
    return process.returncode, said.decode()


def lines(root: Path) -> dict[str, str]:
    """What stands in the file: no line torn, no unit twice."""
    records = list(read_records(root / LINES, UnitRecord))
    assert len({record.task_id for record in records}) == len(records)
    return {record.task_id: record.outcome.value for record in records}


@pytest.fixture
async def calm(tmp_path: Path) -> dict[str, str]:
    """The results of a run that nobody disturbs."""
    async with ModelServer(says) as server:
        assert (await finish(server, tmp_path / "calm"))[0] == 0
    return lines(tmp_path / "calm")


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
async def test_killed_again_and_again(tmp_path: Path, calm: dict[str, str], kills: int) -> None:
    """However often it is killed (-9) at random moments, the end is that of a calm run.

    No unit that has a line is asked again, and twice is asked no more than was in flight.
    """
    rng = random.Random(kills)
    root = tmp_path / "killed"
    async with ModelServer(says, latency=0.02) as server:
        for _ in range(kills):
            before = server.count
            process = await start(server, root)
            wanted = rng.randrange(0, 2 * TASKS // kills)
            while server.count - before < wanted and process.returncode is None:  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            await asyncio.sleep(rng.random() * 0.05)
            if process.returncode is None:
                process.kill()
            await process.communicate()
        code, said = await finish(server, root)
        assert (code, lines(root)) == (0, calm), said
        asked = Counter(request.prompt for request in server.requests)
    assert set(asked) == set(calm)
    assert server.count <= TASKS + kills * 2 * SLOTS


async def test_disk_full(tmp_path: Path, calm: dict[str, str]) -> None:
    """When no more fits, the run ends with 2 and says so; what is there is whole, and room lets it go on."""
    root = tmp_path / "full"
    async with ModelServer(says) as server:
        (root / LINES).parent.mkdir(parents=True)
        code, said = await finish(server, root, limit=160_000)
        assert code == 2, said
        assert "make room" in said or "cannot be used" in said
        assert set(lines(root).items()) < set(calm.items())
        code, said = await finish(server, root)
    assert (code, lines(root)) == (0, calm), said


async def test_two_runners_on_one_folder(tmp_path: Path, calm: dict[str, str]) -> None:
    """The second ends with 2 and says why; the first is not disturbed, and every unit has one line."""
    root, go_on = tmp_path / "two", asyncio.Event()

    async def held(asked: Asked) -> str:
        await go_on.wait()
        return says(asked)

    async with ModelServer(held) as server:
        first = await start(server, root)
        while server.count < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        code, said = await finish(server, root)
        go_on.set()
        assert code == 2
        assert "another triathlon run is writing the results of 'm'" in said
        await first.communicate()
        assert first.returncode == 0
    assert lines(root) == calm
