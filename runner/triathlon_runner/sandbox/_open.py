"""Opens a sandbox on this machine, says how strong it is, what limits it sets and which languages it runs."""

import os
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.languages import LANGUAGES, Language
from triathlon_runner.sandbox._api import Call, Job, Limits, Returned, Sandbox, SandboxError
from triathlon_runner.sandbox._inside import confine
from triathlon_runner.sandbox._local import LocalSandbox
from triathlon_runner.sandbox._worker import LEVELS


class NoIsolationError(SandboxError, UserError):
    """Nothing can be executed here until the user enables what the message names."""


@asynccontextmanager
async def open_sandbox(level: str = "auto", jobs: int | None = None) -> AsyncIterator[Sandbox]:
    """A sandbox on this machine, at most `jobs` children at once (default: as many as cores).

    Memory is reserved for jobs: they run one after another where there is too little for several, and a
    single job's limit fits what is free.

    `level` is `namespaces`, `lite` or `auto`, the strongest that works here.

    Raises:
        NoIsolationError: the level, or any, does not work here; the message says what to enable.
    """
    levels = [each for each in LEVELS if level in ("auto", each)]
    if not levels:
        raise UserError(f"no isolation level {level!r}: choose auto, {', '.join(LEVELS)}")
    refusals = []
    for each in levels:
        async with aclosing(LocalSandbox(each, jobs or len(os.sched_getaffinity(0)))) as sandbox:
            try:
                await _check_ways_out(sandbox)
            except SandboxError as error:
                refusals.append(f"{each}: {error}")
            else:
                yield sandbox
                return
    what = "this isolation level does not work here"
    if level == "auto":
        what = "nothing is executed here, no isolation level works"
    raise NoIsolationError(
        f"{what} ({'; '.join(refusals)}). "
        "Enable unprivileged user namespaces, or Landlock (Linux 5.13 or later, `landlock` among the LSMs)."
    )


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
"""Tries the ways out; it is executed whenever a sandbox is opened, before any other program."""


async def _check_ways_out(sandbox: Sandbox) -> None:
    """Executes the program.

    Raises:
        SandboxError: it could not be executed, or a way out is open.
    """
    # A file that everybody may read and write, and a port that somebody listens on.
    with tempfile.NamedTemporaryFile(prefix="triathlon-check-") as file, socket.socket() as listener:
        os.fchmod(file.fileno(), 0o666)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        call = Call("open_ways", (file.name, listener.getsockname()[1]))
        execution = await sandbox.run(Job(_PROGRAM, (call,)))
    match execution.results:
        case (Returned([]),):
            return
        case (Returned([int(way), *_]),):
            raise SandboxError(f"it does not hold: a program can {WAYS_OUT[way]}")
    raise SandboxError(f"a first program did not run: {execution.detail or execution.results}")


def integrity(level: str) -> str:
    """Returns what a manifest says of a sandbox that was opened at this level."""
    return f"at level {level} none of {len(WAYS_OUT)} ways out of the sandbox was open"


@dataclass(frozen=True, slots=True)
class LanguageHealth:
    """One language, as tested in the sandbox."""

    language: Language
    version: str
    """Empty where it does not work."""
    fault: str
    """What is missing and how to get it, or empty."""


@dataclass(frozen=True, slots=True)
class SandboxHealth:
    """The strongest level that works, why stronger ones don't, and the languages at that level."""

    level: str | None
    """None: nothing can be executed here."""
    refused: dict[str, str]
    """Levels that do not work, with the reason."""
    jobs: int
    """Programs at once by default."""
    languages: tuple[LanguageHealth, ...]


async def doctor() -> SandboxHealth:
    """Tries every level and, at the strongest that works, every language."""
    refused: dict[str, str] = {}
    working: str | None = None
    languages: tuple[LanguageHealth, ...] = ()
    for level in LEVELS:
        try:
            async with open_sandbox(level, 1) as sandbox:
                if working is None:
                    working = level
                    languages = tuple([await try_language(sandbox, language) for language in Language])
        except SandboxError as error:
            refused[level] = str(error)
    return SandboxHealth(working, refused, len(os.sched_getaffinity(0)), languages)


async def try_language(sandbox: Sandbox, language: Language) -> LanguageHealth:
    """Whether programs of a language can be executed there, tested by executing one."""
    spec = LANGUAGES[language]
    job = Job(spec.version_program, (Call("version", ()),), language, Limits(cpu_seconds=10))
    try:
        execution = await sandbox.run(job)
    except SandboxError as error:
        fault = str(error)
    else:
        result = execution.results[0] if execution.results else None
        if isinstance(result, Returned) and isinstance(result.value, str):
            return LanguageHealth(language, result.value, "")
        fault = execution.detail or str(result)
    hint = f"on Debian: apt-get install {spec.package}" if spec.package else "the runner's own Python"
    return LanguageHealth(language, "", f"{fault}; {hint}")


def limits_of_a_child(limits: Limits) -> dict[str, str]:
    """Each limit of a child whose job has these, with what enforces it; a test of that name reaches it."""
    return {
        "CPU time": f"{limits.cpu_seconds:g} s (the server, by the process' own clock)",
        "sleep": f"{limits.wall_seconds:g} s (the runner; waiting for a processor does not count)",
        "memory": f"{limits.memory_bytes >> 20} MiB, or what is free"
        " (RLIMIT_AS; in JavaScript RLIMIT_DATA, and no shared mappings)",
        "one result": f"{limits.result_bytes >> 10} KiB (the child, and the runner that reads it)",
        "recorded output": f"{limits.output_bytes >> 10} KiB (the runner, which drops the rest)",
        "one file": f"{confine.FILE_BYTES >> 20} MiB (RLIMIT_FSIZE)",
        "files together": f"{confine.SCRATCH_BYTES >> 20} MiB"
        " (the size of the file system; at `lite` the server, every 0.01 s)",
        "open files": f"{confine.OPEN_FILES} (RLIMIT_NOFILE, with one table for all threads)",
        "threads": f"{confine.THREADS} (RLIMIT_NPROC)",
        "processes": "1 (the system call filter)",
        "pending signals": f"{confine.PENDING_SIGNALS} (RLIMIT_SIGPENDING)",
    }
