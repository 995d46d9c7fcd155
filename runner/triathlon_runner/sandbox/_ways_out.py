"""A program that tries the ways out of the sandbox: executed whenever one is opened, before any other."""

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from triathlon_runner.sandbox._api import Call, Job, Returned, Sandbox, SandboxError

WAYS_OUT: Final = (
    "read a file of the user's",
    "write to it",
    "read the environment",
    "connect to another program",
    "start a process",
    "signal another process",
    "have a table of descriptors of its own",
    "lock a file that others see",
)
_PROGRAM: Final = """
import ctypes, os, socket, struct, fcntl
def connect(port):
    with socket.socket() as connection:
        connection.connect(("127.0.0.1", port))
def environment():
    if not os.environ:
        raise OSError
def start():
    if os.fork() == 0:
        os._exit(0)
def own_table():
    if ctypes.CDLL(None).syscall(436, 200, 255, 2) != 0:
        raise OSError
def lock():
    fcntl.fcntl(0, 5, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
def open_ways(path, port):
    tries = (
        lambda: open(path).read(), lambda: open(path, "r+"), environment, lambda: connect(port), start,
        lambda: os.kill(os.getppid(), 0), own_table, lock,
    )
    found = []
    for number, attempt in enumerate(tries):
        try:
            attempt()
        except OSError:
            continue
        found.append(number)
    return found
"""


async def check_ways_out(sandbox: Sandbox) -> None:
    """Executes the program.

    Raises:
        SandboxError: it could not be executed, or a way out is open.
    """
    with _something_to_reach() as (path, port):
        execution = await sandbox.run(Job(_PROGRAM, (Call("open_ways", (path, port)),)))
    if execution.results == (Returned([]),):
        return
    with suppress(ValueError, AttributeError, TypeError, IndexError):
        (result,) = execution.results
        raise SandboxError(f"it does not hold: a program can {WAYS_OUT[result.value[0]]}")  # type: ignore[union-attr]
    raise SandboxError(f"a first program did not run: {execution.detail or execution.results}")


@contextmanager
def _something_to_reach() -> Iterator[tuple[str, int]]:
    """A file that everybody may read and write, and a port that somebody listens on."""
    with tempfile.NamedTemporaryFile(prefix="triathlon-check-") as file, socket.socket() as listener:
        Path(file.name).chmod(0o666)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield file.name, listener.getsockname()[1]


def integrity(level: str) -> str:
    """Returns what a manifest says of a sandbox that was opened at this level."""
    return f"at level {level} none of {len(WAYS_OUT)} ways out of the sandbox was open"
