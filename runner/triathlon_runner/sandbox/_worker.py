"""One template server as the runner sees it: a process with a control socket, running one job at a time."""

import asyncio
import contextlib
import marshal
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.sandbox._api import SandboxError
from triathlon_runner.sandbox._exchange import Exchange
from triathlon_runner.sandbox._inside import messages
from triathlon_runner.sandbox._limits import Limits

BOOT = Path(__file__).parent / "_boot.py"
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "LD_BIND_NOW": "1",
}
"""The whole environment of a server; its children have none. The last one makes the dynamic
linker look functions up once, in the server, instead of at their first use in every child."""
START_SECONDS = 60.0
END_SECONDS = 5.0
PIPES = 4

MakeSettings = Callable[[Path], dict[str, Any]]
"""Returns the settings of a server that may use this empty directory."""
Ends = tuple[int, ...]
"""The runner's ends of a child's pipes: jobs, results, standard output and error."""


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended, as its server reports it; nothing in it comes from the child."""

    status: int
    """Its wait status, as of wait(2)."""
    cpu_seconds: float
    note: int
    """Why the server killed it (`messages`), or 0."""


class Worker:
    """Made by `Worker.start`. A worker that isn't `usable` any more is closed, never used again."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket, directory: Path) -> None:
        self._process = process
        self._control = control
        self._directory = directory
        self._killed = False
        self._loop = asyncio.get_running_loop()
        self._ends: Ends = ()
        self._waiting: asyncio.Future[None] | None = None
        self._report: tuple[Any, ...] | None = None
        self._fault = ""
        self.usable = True
        self._loop.add_reader(control, self._on_message)

    @classmethod
    async def start(cls, make_settings: MakeSettings) -> "Worker":
        """Starts a server and waits until its first child is ready.

        Raises:
            SandboxError: it did not get ready.
        """
        directory = Path(tempfile.mkdtemp(prefix="triathlon-room-"))
        try:
            settings = make_settings(directory)
            worker = await cls._spawn(settings, directory)
        except BaseException:
            _remove(directory)
            raise
        try:
            async with asyncio.timeout(START_SECONDS):
                await worker.ready()
        except TimeoutError:
            await worker.close()
            raise SandboxError(f"the sandbox server did not start within {START_SECONDS:g} s") from None
        except BaseException:
            await worker.close()
            raise
        if settings["level"] == "namespaces":  # nothing is mounted on it any more
            _remove(directory)
        return worker

    @classmethod
    async def _spawn(cls, settings: dict[str, Any], directory: Path) -> "Worker":
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-s", "-S", "-B", "-P", str(BOOT), str(theirs.fileno()),
                    marshal.dumps(settings).hex(),
                    stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()], env=_ENVIRONMENT,
                    cwd="/", start_new_session=True,
                )  # fmt: skip
        except BaseException:
            ours.close()
            raise
        return cls(process, ours, directory)

    def _on_message(self) -> None:
        """Takes one message of the server's: a child was forked, one has ended, or the server failed."""
        try:
            message, ends, _, _ = socket.recv_fds(self._control, messages.SIZE, PIPES)
        except BlockingIOError:
            return
        except OSError as error:
            message, ends = messages.FAILED + str(error).encode(), []
        if message == messages.IS_READING:
            self._send_or_kill(messages.READING)
            return
        if ends:
            self._ends = tuple(ends)
        if message[:1] == messages.ENDED:
            self._report = messages.REPORT.unpack(message)
        elif message != messages.READY:
            self._fail(message[1:].decode("utf-8", "replace") or "the sandbox server ended")
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _fail(self, fault: str) -> None:
        self._fault = fault
        self.usable = False
        self._loop.remove_reader(self._control)

    async def _next_message(self) -> None:
        if self._fault:
            raise SandboxError(self._fault)
        self._waiting = self._loop.create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    async def ready(self) -> None:
        """Waits until a child is ready.

        Raises:
            SandboxError: the server is gone.
        """
        while not self._ends:
            await self._next_message()

    def take_ends(self) -> Ends:
        """Returns the runner's ends of the ready child's pipes; the caller closes them."""
        self.usable = self._killed = False
        ends, self._ends = self._ends, ()
        return ends

    async def run(self, limits: Limits, exchange: Exchange) -> ChildEnd:
        """Tells the server that its child has a job and waits for the child's end.

        Raises:
            SandboxError: the server is gone, or could not confine the child.
        """
        self._send(messages.BEGIN + messages.JOB.pack(limits.cpu_seconds, limits.wall_seconds))
        while self._report is None:
            await self._next_message()
        _, status, cpu_seconds, note, confined = self._report
        self._report = None
        # A child that we killed may have ended before it was confined; it had executed nothing then.
        if not confined and not self._killed:
            exchange.drain()
            raise SandboxError(
                f"the sandbox server could not confine a child: {exchange.printed(1) or status!r}"
            )
        self.usable = bool(self._ends) and not self._fault
        return ChildEnd(status, cpu_seconds, note)

    def _send(self, message: bytes) -> None:
        try:
            self._control.send(message)
        except OSError as error:
            raise SandboxError(f"the sandbox server is gone: {self._fault or error}") from error

    def kill_child(self) -> None:
        """Asks the server to kill the running child; its report comes all the same."""
        self._killed = True
        self._send_or_kill(messages.KILL)

    def _send_or_kill(self, message: bytes) -> None:
        try:
            self._control.send(message)
        except OSError:
            self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Ends the server and everything under it, and removes what programs left."""
        self.usable = False
        self._loop.remove_reader(self._control)
        self._control.close()  # on which the server kills its child and ends
        for descriptor in self._ends:
            os.close(descriptor)
        self._ends = ()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._kill()
            await self._process.wait()
        await asyncio.to_thread(_remove, self._directory)


def _remove(directory: Path) -> None:
    """Removes a directory that a hostile program may have filled: unreadable, or deeper than any path."""
    with contextlib.suppress(OSError):
        directory.rmdir()
    if not directory.exists():
        return
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        program = shutil.which(command[0])
        if program is not None:
            subprocess.run([program, *command[1:], str(directory)], check=False, capture_output=True)
