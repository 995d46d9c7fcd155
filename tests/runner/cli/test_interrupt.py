"""Ctrl-C once and twice, and other ends, on the real command."""

import asyncio
import contextlib
import fcntl
import os
import signal
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.core_model import answer
from support.model_server import ModelServer
from support.small_run import COMMAND, ROWS, SmallRun, started

TASKS = 24
SUITE = "evolved/core-seeds"


async def start(
    server: ModelServer, root: Path, *, tasks: int = TASKS, **options: Any
) -> asyncio.subprocess.Process:
    """Starts a run whose output goes to a pipe, where the options do not say otherwise."""
    (root / "models.yaml").write_text(ROWS.format(url=server.base_url) + "defaults: {concurrency: 2}\n")
    return await started(root, "run", "--suites", SUITE, "--limit", f"{tasks}", **options)


@asynccontextmanager
async def running(
    root: Path, latency: float, **options: Any
) -> AsyncIterator[tuple[ModelServer, asyncio.subprocess.Process]]:
    """A run that waits for its first two replies, which take so many seconds, and its server."""
    async with ModelServer(answer, latency=latency) as server:
        process = await start(server, root, **options)
        while server.count < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        yield server, process


async def said_by(process: asyncio.subprocess.Process) -> str:
    """What a process said until its end, which is near."""
    async with asyncio.timeout(50):
        output, errors = await process.communicate()
    return ((output or b"") + (errors or b"")).decode()


def count_lines(root: Path) -> int:
    path = SmallRun(root).lines(SUITE)
    return path.read_text().count("}\n") if path.exists() else 0


@pytest.mark.parametrize(
    ("number", "presses", "name"),
    [
        (signal.SIGINT, 1, "Ctrl-C"),
        pytest.param(signal.SIGINT, 2, "Ctrl-C", marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 1, "SIGTERM", marks=pytest.mark.slow),
    ],
)
async def test_ctrl_c(tmp_path: Path, number: signal.Signals, presses: int, name: str) -> None:
    """Once: what is in flight is finished, said so, exit code 1. Twice: stopped. Then the rest is done."""
    async with running(tmp_path, 0.3 if presses == 1 else 60) as (server, process):
        process.send_signal(number)
        if presses == 2:
            await asyncio.sleep(0.5)
            process.send_signal(number)
        said = await said_by(process)
        assert process.returncode == 1, said
        assert f"{name}: finishing what is in flight" in said and "Ctrl-C stops at once" in said
        assert f"stopped: {name}" in said and "Traceback" not in said
        asked = server.count
    done = count_lines(tmp_path)
    assert asked < TASKS
    assert (done >= 2) if presses == 1 else (done == 0 and "stopped" in said)
    async with ModelServer(answer) as server:
        process = await start(server, tmp_path)
        said = await said_by(process)
        assert process.returncode == 0, said
        assert server.count == TASKS - done
    assert count_lines(tmp_path) == TASKS


@pytest.mark.parametrize("is_closed", [False, True], ids=["SIGHUP", "closed terminal"])
async def test_sighup(tmp_path: Path, is_closed: bool) -> None:
    """What is in flight is finished; a second SIGHUP, which shells send, or lost output changes nothing."""
    terminal, end = os.openpty()
    options: dict[str, Any] = {"stdin": end, "stdout": end, "stderr": end, "start_new_session": True}
    options["preexec_fn"] = lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    async with running(tmp_path, 0.5, **(options if is_closed else {})) as (server, process):
        os.close(end)
        os.close(terminal)
        for _ in range(0 if is_closed else 2):
            process.send_signal(signal.SIGHUP)
            await asyncio.sleep(0.1)
        said = await said_by(process)
        assert process.returncode == 1, said
        if not is_closed:
            assert "SIGHUP: finishing what is in flight" in said and "stopped: SIGHUP" in said
            assert "and then at once" not in said and "units finished" in said
        assert 2 <= count_lines(tmp_path) == server.count < TASKS


@pytest.mark.parametrize("number", [None, signal.SIGINT], ids=["head", "tee that Ctrl-C ended"])
async def test_the_reader_of_the_output_ends(tmp_path: Path, number: signal.Signals | None) -> None:
    """The run goes on until it has something to print, and then finishes what is in flight, as at Ctrl-C."""
    reader, end = os.pipe()
    async with running(tmp_path, 0.5, stdout=end, stderr=asyncio.subprocess.PIPE) as (server, process):
        os.close(end)
        os.close(reader)
        if number is not None:
            process.send_signal(number)
        said = await said_by(process)
        done = count_lines(tmp_path)
        assert (process.returncode, "Traceback" in said) == (int(done < TASKS), False), said
        assert 2 <= done == server.count


async def test_sighup_under_nohup(tmp_path: Path) -> None:
    async with running(tmp_path, 0.1, command=("nohup", *COMMAND)) as (_, process):
        process.send_signal(signal.SIGHUP)
        said = await said_by(process)
        assert process.returncode == 0, said
    assert count_lines(tmp_path) == TASKS


@pytest.mark.slow
async def test_a_killed_run(tmp_path: Path) -> None:
    """Its lines follow, with exit code 0; the rest of the plan is open, and no moment is under `ended`."""
    async with running(tmp_path, 0.3) as (_, process):
        while count_lines(tmp_path) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        process.kill()
        await process.wait()
    place, count = SmallRun(tmp_path), count_lines(tmp_path)
    said = (f"unfinished run, {count} lines whole", f"{count} units in 1 file")
    await asyncio.to_thread(place.expect, "verify", 0, *said)
    row = (await asyncio.to_thread(place.listed))[SUITE]
    assert (row["units"], row["open"], row["ended"]) == (count, TASKS - count, "")
    assert row["state"].startswith("current") and said[0] in row["state"]


async def test_ctrl_c_behind_the_summary(tmp_path: Path) -> None:
    """Nothing is left to stop: the exit code is that of the run, and nothing more is printed."""
    async with ModelServer(answer) as server:
        process = await start(server, tmp_path, tasks=1)
        assert process.stdout is not None
        async with asyncio.timeout(50):
            while b"1 unit finished, 0 open" not in (line := await process.stdout.readline()):
                assert line, "the summary was not printed"
            while process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGINT)  # `send_signal` may take the exit code from asyncio
                await asyncio.sleep(0.005)
        assert (process.returncode, await process.stdout.read()) == (0, b"")
