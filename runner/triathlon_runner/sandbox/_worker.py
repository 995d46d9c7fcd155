"""One template server as the runner sees it: a process with a control socket, running one job at a time."""

import asyncio
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.sandbox._api import Limits, SandboxError
from triathlon_runner.sandbox._exchange import Exchange

BOOT = Path(__file__).parent / "_boot.py"
START_SECONDS = 60.0
END_SECONDS = 5.0

MakeSettings = Callable[[Path], dict[str, Any]]
"""What to tell a server that may use this empty directory."""


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended, as its server reports it; nothing in it comes from the child."""

    status: int
    """As of wait(2)."""
    cpu_seconds: float
    note: str
    """Why the server killed it (`cpu`, `asleep`, `scratch`), or empty."""


class Worker:
    """Made by `Worker.start`. A worker that isn't `usable` any more is closed, never used again."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket, place: Path) -> None:
        self._process = process
        self._control = control
        self._place = place
        self._killed = False
        self.usable = True

    @classmethod
    async def start(cls, make_settings: MakeSettings) -> "Worker":
        """Starts a server and waits until it is ready.

        Raises:
            SandboxError: it did not get ready.
        """
        place = Path(tempfile.mkdtemp(prefix="triathlon-room-"))
        try:
            settings = make_settings(place)
            worker = await cls._spawn(settings, place)
        except BaseException:
            _remove(place)
            raise
        try:
            async with asyncio.timeout(START_SECONDS):
                answer = await worker._receive()
        except TimeoutError:
            await worker.close()
            raise SandboxError(f"the sandbox server did not start within {START_SECONDS:g} s") from None
        except BaseException:
            await worker.close()
            raise
        if not answer.get("ready"):
            await worker.close()
            raise SandboxError(answer.get("error", "the sandbox server ended while it started"))
        if settings["level"] == "namespaces":  # its room is mounted on it no more
            _remove(place)
        return worker

    @classmethod
    async def _spawn(cls, settings: dict[str, Any], place: Path) -> "Worker":
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-s", "-S", "-B", "-P", str(BOOT), str(theirs.fileno()), json.dumps(settings),
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env={"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
                cwd="/", start_new_session=True,
            )  # fmt: skip
        return cls(process, ours, place)

    async def _receive(self) -> dict[str, Any]:
        message = await asyncio.get_running_loop().sock_recv(self._control, 1 << 16)
        return dict(json.loads(message)) if message else {}

    async def run(self, limits: Limits, exchange: Exchange) -> ChildEnd:
        """Starts a child on the exchange's far ends and waits for its end.

        Raises:
            SandboxError: the server is gone, or could not confine the child.
        """
        job = {"cpu": limits.cpu_seconds, "wall": limits.wall_seconds, "memory": limits.memory_bytes}
        self.usable = self._killed = False
        try:
            socket.send_fds(self._control, [json.dumps(job).encode()], exchange.far_ends)
        except OSError as error:
            raise SandboxError(f"the sandbox server is gone: {error}") from error
        exchange.close_far_ends()
        report = await self._receive()
        # A child that we killed may have ended before it could say that it is confined; it ran nothing then.
        if report.get("confinement") != "confined" and not (self._killed and "status" in report):
            raise SandboxError(f"the sandbox server could not confine a child: {report!r}")
        self.usable = not report["dirty"]
        return ChildEnd(report["status"], report["cpu"], report["note"])

    def kill_child(self) -> None:
        """Asks the server to kill the running child; its report comes all the same."""
        self._killed = True
        try:
            self._control.send(b"K")
        except OSError:
            self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Ends the server and everything under it, and removes what programs left."""
        self.usable = False
        self._control.close()  # it hangs up: the server kills its child and ends
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._kill()
            await self._process.wait()
        await asyncio.to_thread(_remove, self._place)


def _remove(place: Path) -> None:
    """Removes a directory that a hostile program may have filled: unreadable, or deeper than any path."""
    with contextlib.suppress(OSError):
        place.rmdir()
    if not place.exists():
        return
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        program = shutil.which(command[0])
        if program is not None:
            subprocess.run([program, *command[1:], str(place)], check=False, capture_output=True)
