"""One template server as the runner sees it: a process with a control socket, running one job at a time."""

import asyncio
import contextlib
import json
import math
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triathlon_runner.sandbox._api import Job, SandboxError
from triathlon_runner.sandbox._exchange import Exchange

BOOT = Path(__file__).parent / "_boot.py"
START_SECONDS = 60.0


class Worker:
    """Made by `Worker.start`. After an error or a cancellation it is closed, never used again."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process = process
        self._control = control
        self.usable = True

    @classmethod
    async def start(cls, settings: Mapping[str, Any]) -> "Worker":
        """Starts a server and waits until it is ready.

        Raises:
            SandboxError: it did not get ready.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", "-B", str(BOOT), str(theirs.fileno()), json.dumps(settings),
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env={"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
                cwd="/", start_new_session=True,
            )  # fmt: skip
        worker = cls(process, ours)
        try:
            async with asyncio.timeout(START_SECONDS):
                answer = await worker._receive()
        except BaseException:
            await worker.close()
            raise
        if not answer.get("ready"):
            await worker.close()
            raise SandboxError(f"the sandbox server did not start: {answer!r}")
        return worker

    async def _receive(self) -> dict[str, Any]:
        message = await asyncio.get_running_loop().sock_recv(self._control, 1 << 16)
        return dict(json.loads(message)) if message else {}

    async def run(self, job: Job, exchange: Exchange) -> tuple[int, float]:
        """Starts a child on the exchange's far ends and waits for its end: wait status and CPU seconds.

        Raises:
            SandboxError: the server is gone.
        """
        cpu = math.ceil(job.limits.cpu_seconds)
        header = json.dumps({"cpu": cpu, "memory": job.limits.memory_bytes}).encode()
        self.usable = False
        try:
            socket.send_fds(self._control, [header], exchange.far_ends)
        except OSError as error:
            raise SandboxError(f"the sandbox server is gone: {error}") from error
        exchange.close_far_ends()
        report = await self._receive()
        if "status" not in report:
            raise SandboxError(f"the sandbox server ended in the middle of a job: {report!r}")
        self.usable = True
        return report["status"], report["cpu"]

    def kill_child(self) -> None:
        """Asks the server to kill the running child; its report comes all the same."""
        try:
            self._control.send(b"K")
        except OSError:
            self._process.kill()

    async def close(self) -> None:
        """Ends the server and everything under it."""
        self.usable = False
        self._control.close()
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()


def interpreter_paths() -> list[str]:
    """Where libraries are imported from, for the moment in which a server preloads them."""
    return [
        path for path in sys.path if path and Path(path).is_dir() and os.fspath(path).endswith("-packages")
    ]
