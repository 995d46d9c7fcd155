"""The runner's end of a template server: its settings, its process and its control socket."""

import asyncio
import importlib.metadata
import importlib.util
import itertools
import marshal
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.languages import LANGUAGES, Language
from triathlon_runner.sandbox._api import SandboxError
from triathlon_runner.sandbox._inside import messages

IsolationLevel = Literal["namespaces", "lite"]
LEVELS: tuple[IsolationLevel, ...] = ("namespaces", "lite")
"""From the strongest."""

BOOT = Path(__file__).parent / "_inside" / "__init__.py"
_HARNESSES = Path(__file__).parent / "_languages"
_LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
"""The dynamic loader, which the kernel executes for an interpreter."""
_FIRST_ID = 0x6000_0000
"""First user id of sandboxes, far above those of people and services; each worker has two."""
_counter = itertools.count()
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "LD_BIND_NOW": "1",
}
"""The whole environment of a server; its children have none. The last one makes the dynamic
linker look functions up once, in the server, instead of at their first use in every child."""
_PIPES = 4
START_SECONDS = 60.0
END_SECONDS = 5.0
_END_CHECK_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended, as its server reports it; nothing in it comes from the child."""

    status: int
    """Its wait status, as of wait(2)."""
    cpu_seconds: float
    note: int
    """Why the server killed it (`messages`), or 0."""
    confined: bool
    """Whether it was; before that it executed nothing."""
    peak_bytes: int
    """The most memory that it had."""


class Worker:
    """Made by `Worker.start`. A worker that isn't `usable` any more is closed, never used again."""

    def __init__(self, process: "subprocess.Popen[bytes]", control: socket.socket, directory: Path) -> None:
        self._process, self._control, self._directory = process, control, directory
        self._ends: tuple[int, ...] = ()
        """The runner's ends of the ready child's pipes."""
        self._end: ChildEnd | None = None
        self._fault = ""
        self._on_long: Callable[[int], None] = os.close
        self._news = asyncio.Event()
        self.usable = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(control, self._on_message)

    @classmethod
    async def start(cls, level: IsolationLevel, language: Language, libraries: frozenset[str]) -> "Worker":
        """Starts a server and waits until its first child is ready; raises SandboxError where it does not."""
        try:
            directory = Path(tempfile.mkdtemp(prefix="triathlon-room-"))
            try:
                worker = cls(*_spawn(server_settings(level, language, libraries, directory)), directory)
            except BaseException:
                _remove(directory)
                raise
        except OSError as error:  # no more processes, descriptors or space
            raise SandboxError(f"a sandbox server could not be started: {error}") from error
        try:
            async with asyncio.timeout(START_SECONDS):
                await worker.ready()
        except BaseException as error:
            await worker.close()
            if not isinstance(error, TimeoutError):
                raise
            raise SandboxError(f"the sandbox server did not start within {START_SECONDS:g} s") from None
        if level == "namespaces":  # nothing is mounted on it any more
            _remove(directory)
        return worker

    def _on_message(self) -> None:
        """Takes one message: a child is ready, has run for a moment or has ended, or the server failed."""
        try:
            message, descriptors, flags, _ = socket.recv_fds(self._control, messages.SIZE, _PIPES)
        except BlockingIOError:
            return
        except OSError as error:
            message, descriptors, flags = messages.FAILED + str(error).encode(), [], 0
        if flags & socket.MSG_CTRUNC:  # the kernel had no numbers for all descriptors
            for descriptor in descriptors:
                os.close(descriptor)
            message, descriptors = messages.FAILED + b"this process has too many open files", []
        if message == messages.LONG:
            self._on_long(*descriptors)
            return
        if descriptors:
            self._ends = tuple(descriptors)
        if message[:1] == messages.ENDED:
            self._end = ChildEnd(*messages.REPORT.unpack(message)[1:])
        elif message != messages.READY:
            self._fault = message[1:].decode("utf-8", "replace") or "the sandbox server ended"
            self.usable = False
            self._loop.remove_reader(self._control)
        self._news.set()

    async def _next_message(self) -> None:
        if self._fault:
            raise SandboxError(self._fault)
        self._news.clear()
        await self._news.wait()

    async def ready(self) -> None:
        """Waits until a child is ready; raises SandboxError where the server is gone."""
        while not self._ends:
            await self._next_message()

    def take_ends(self) -> tuple[int, ...]:
        """The runner's ends of the ready child's pipes, as `Pipes` takes them; the caller closes them."""
        self.usable = False
        ends, self._ends = self._ends, ()
        return ends

    async def run(self, cpu_seconds: float, on_long: Callable[[int], None]) -> ChildEnd:
        """Tells the server that its child has a job and waits for the child's end.

        `on_long` gets a descriptor of the child's process if it does not end at once.

        Raises:
            SandboxError: the server is gone.
        """
        self._end, self._on_long = None, on_long
        try:
            self._control.send(messages.JOB.pack(messages.BEGIN, cpu_seconds))
        except OSError as error:
            raise SandboxError(f"the sandbox server is gone: {self._fault or error}") from error
        try:
            while self._end is None:
                await self._next_message()
        finally:
            self._on_long = os.close  # a process that is told of later belongs to no run
        self.usable = bool(self._ends) and not self._fault and self._end.confined
        return self._end

    def kill_child(self) -> None:
        """Asks the server to kill the running child; its report comes all the same."""
        try:
            self._control.send(messages.KILL)
        except OSError:
            self._process.kill()

    async def close(self) -> None:
        """Ends the server and everything under it, and removes what programs left."""
        self.usable = False
        self._loop.remove_reader(self._control)
        self._control.close()  # on which the server kills its child and ends
        for descriptor in self._ends:
            os.close(descriptor)
        self._ends = ()
        deadline = self._loop.time() + END_SECONDS
        # No thread of asyncio's waits for the process, as there may be none.
        while self._process.poll() is None:
            if self._loop.time() > deadline:
                self._process.kill()
            await asyncio.sleep(_END_CHECK_SECONDS)
        try:
            await asyncio.to_thread(_remove, self._directory)
        except RuntimeError:  # no more threads
            _remove(self._directory)


def _spawn(settings: dict[str, Any]) -> "tuple[subprocess.Popen[bytes], socket.socket]":
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    options = ("-s", "-S", "-B", "-P", str(BOOT), str(theirs.fileno()), marshal.dumps(settings).hex())
    try:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=_ENVIRONMENT, cwd="/", start_new_session=True,
            )  # fmt: skip
    except BaseException:
        ours.close()
        raise
    return process, ours


def _remove(directory: Path) -> None:
    """Removes a directory that a hostile program may have filled: unreadable, or deeper than any path."""
    with suppress(OSError):
        directory.rmdir()
    if directory.exists():
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            with suppress(FileNotFoundError):
                subprocess.run([*command, str(directory)], check=False, capture_output=True)


# What a server may use, and what its children may see


def server_settings(
    level: IsolationLevel, language: Language, libraries: frozenset[str], directory: Path
) -> dict[str, Any]:
    """Settings of a server for programs in one language.

    Python's may import the standard library and `libraries`. Every other language's interpreter is started
    for each program.

    Raises:
        SandboxError: the language, or a library, is not installed.
    """
    outer_id = _FIRST_ID + (os.getpid() % 65536) * 4096 + next(_counter) % 2048 * 2
    settings = {
        "level": level,
        "directory": str(directory),
        "outer_id": outer_id if os.geteuid() == 0 else None,
        "libraries": sorted(libraries),
        "path": [],
        "hidden": [],
        "runnable": [],
        "command": [],
        "reserves_memory": False,
    }
    spec = LANGUAGES[language]
    if not spec.command:
        interpreter, names = _interpreter(), ("site-packages", "dist-packages")
        site_folders = [path for path in sys.path if path.endswith(names)]
        # Installed packages are hidden, but for the libraries that a job names.
        inside = tuple(f"{folder}/" for folder in interpreter)
        hidden = [f"{folder}/{name}" for folder in interpreter for name in names]
        hidden += [path for path in site_folders if path.startswith(inside)]
        return settings | {
            "path": site_folders if libraries else [],
            "visible": [*interpreter, *_library_folders(libraries)],
            "hidden": sorted({path for path in hidden if Path(path).is_dir()}),
        }
    program = shutil.which(spec.command[0])
    if program is None:
        raise SandboxError(f"{language} is not installed: {spec.command[0]!r} is not on the PATH")
    executable, harness = str(Path(program).resolve()), str(_HARNESSES / spec.harness)
    visible = [path for path in (*_system_libraries(), *spec.libraries) if Path(path).exists()]
    return settings | {
        "visible": _outermost([*visible, executable, harness]),
        "runnable": [executable, *(str(Path(path).resolve()) for path in _LOADERS if Path(path).exists())],
        "command": [executable, *spec.command[1:], harness],
        "reserves_memory": spec.reserves_memory,
    }


@cache
def _interpreter() -> tuple[str, ...]:
    """The standard library and the shared libraries that its extension modules load."""
    paths = sysconfig.get_paths()
    folders = {
        paths["stdlib"],
        paths["platstdlib"].replace(sys.prefix, sys.base_prefix, 1),
        *map(str, Path(sys.base_prefix, "lib").glob("*.so*")),
        *_system_libraries(),
    }
    return _outermost(path for path in folders if Path(path).exists())


def _system_libraries() -> tuple[str, ...]:
    multiarch = sysconfig.get_config_var("MULTIARCH") or f"{os.uname().machine}-linux-gnu"
    folders = [f"{root}/{multiarch}" for root in ("/lib", "/usr/lib")]
    return (*folders, "/lib64", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/usr/lib/locale")


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Leaves out paths that lie under another one."""
    outermost: list[str] = []
    for path in sorted(paths):
        if not any(path.startswith(folder + "/") for folder in outermost):
            outermost.append(path)
    return tuple(outermost)


@cache
def _library_folders(libraries: frozenset[str]) -> tuple[str, ...]:
    """The folders of the libraries, with the folders in which wheels put their shared libraries."""
    folders = []
    for name in sorted(libraries):
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise SandboxError(
                f"the library {name!r} is not installed where the runner is: pip install {name}"
            )
        for folder in spec.submodule_search_locations:
            # A wheel's folder of shared libraries has the name of the package or that of its distribution.
            shared = [Path(f"{folder}.libs")]
            if not shared[0].is_dir():
                wheels = importlib.metadata.packages_distributions().get(name, ())
                shared = [Path(folder).parent / f"{wheel}.libs" for wheel in wheels]
            folders += [folder, *(str(path) for path in shared if path.is_dir())]
    return tuple(folders)
