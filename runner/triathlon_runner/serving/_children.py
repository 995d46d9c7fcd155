"""Child processes that cannot outlive us, and what the cache needs that is made by them."""

import asyncio
import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from triathlon_runner.serving._config import ServingError
from triathlon_runner.terminal import shortened

_GUARD = Path(__file__).with_name("_end_with_runner.py")
_GRACE_SECONDS = 10.0
"""Between asking a command to end and killing it."""
_GUARD_SECONDS = 10.0
"""Within which the guard kills a command and ends itself."""
_REPORT_SECONDS = 30.0
_SHOWN_LINES, _SHOWN_CAUSES, _SHOWN_CHARACTERS, _TAIL_BYTES = 15, 5, 500, 64 * 1024
"""Of a log: last lines, lines before these that name an error, how much of each, bytes at its end."""
_CAUSE = re.compile(r"^(?!.*\bWARNING\b).*(Error|Exception|error): ")

_NEEDED = re.compile(
    r"""
    PATH | HOME | USER | LOGNAME | SHELL | TMPDIR | LANG | LANGUAGE | TZ | XDG_(CACHE|CONFIG|DATA)_HOME
    | (HTTP|HTTPS|ALL|NO)_PROXY | (http|https|all|no)_proxy
    | SSL_CERT_(FILE|DIR) | (REQUESTS|CURL)_CA_BUNDLE
    | LD_LIBRARY_PATH | LD_PRELOAD | LIBRARY_PATH | CPATH | CC | CXX | MAX_JOBS | TOKENIZERS_PARALLELISM
    | (LC|CUDA|NVIDIA|NCCL|GLOO|CUDNN|CUBLAS|ROCR|HIP|VLLM|TORCH|TORCHINDUCTOR|PYTORCH|TRITON|FLASHINFER|HF
      |TRANSFORMERS|OMP|GOMP|KMP|MKL)_ (?! .* (KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH)) .*
    """,
    re.VERBOSE,
)
"""What a program needs to find itself, its libraries, a compiler, the network and a place for its files; by
which the engine, the libraries under it and their caches are set up. `NVIDIA_API_KEY` is a provider's, and
`VLLM_API_KEY` is ours to give."""
INSTALLER = ("UV_",)
"""For uv: which index it asks, and how. The address of an index may hold a password."""
HUB = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""For a server whose weights come from the hub, where gated ones need it."""


def inherited_variables(*prefixes: str) -> dict[str, str]:
    """The variables of our environment that a child needs; keys of providers and teams are not among them.

    `prefixes` are the beginnings of further names that this child needs (`INSTALLER`, `HUB`).
    """
    return {
        name: value
        for name, value in os.environ.items()
        if _NEEDED.fullmatch(name) or name.startswith(prefixes)
    }


async def end(process: asyncio.subprocess.Process) -> None:
    """Ends a whole process group, with SIGTERM and then SIGKILL; safe to call again."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(_GRACE_SECONDS + _GUARD_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def spawn(
    command: Sequence[str], *, env: Mapping[str, str], log: Path, nice: int = 0
) -> asyncio.subprocess.Process:
    """Starts a command that writes to the end of a log; all its processes end with it and with the runner.

    Returns its guard (`_end_with_runner.py`), which leads the session and the process group; `env` is its
    whole environment.

    Raises:
        ServingError: the log cannot be written; no program can be given these words or variables.
    """
    guard = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), str(_GRACE_SECONDS), str(nice)]
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *guard,
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=dict(env),
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        raise ServingError(
            f"could not start {command[0]!r} with the log {str(log)!r}: {error}; look at the room on the disk"
            " and at `args` and `env` of the row"
        ) from None


async def run(
    command: Sequence[str | Path], log: Path, failure: str, *, env: Mapping[str, str] | None = None
) -> None:
    """Runs a command to its end, offline for Hugging Face's libraries; a cancelled caller ends it.

    Raises:
        ServingError: it ended with an error; the message begins with `failure` and has the log's last lines.
    """
    variables = {**inherited_variables(), "HF_HUB_OFFLINE": "1", **(env or {})}
    child = await spawn([str(part) for part in command], env=variables, log=log)
    try:
        status = await child.wait()
    finally:
        await end(child)
    if status:
        raise ServingError(f"{failure} (exit status {status}):\n{last_lines(log)}")


async def prepare_once(
    target: Path,
    make: Callable[[], Awaitable[None]],
    what: str,
    report: Callable[[str], None],
    *,
    complete: Path | None = None,
) -> None:
    """Makes a file or folder if it is not there. Where another run is making it, waits for that.

    `make` makes it, whole or not at all; else `complete` is the file that shows that it is whole. `report`
    gets `what` is done, such as `installing vllm 1.0`, at the begin, at the end and every 30 s in between.
    The lock `TARGET.lock` is released when its holder's process ends.
    """
    from filelock import AsyncFileLock, Timeout  # noqa: PLC0415  few commands prepare anything

    target.parent.mkdir(parents=True, exist_ok=True)
    lock = AsyncFileLock(target.with_name(target.name + ".lock"))
    try:
        await lock.acquire(timeout=0.5)
    except Timeout:
        report(f"waiting for another run that prepares {target.name}")
        await lock.acquire()
    started = time.monotonic()

    async def report_often() -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            report(f"{what}, {time.monotonic() - started:.0f} s so far")

    try:
        if not (complete or target).exists():
            report(f"{what} (once)")
            reports = asyncio.create_task(report_often())
            try:
                await make()
            finally:
                reports.cancel()
            report(f"{what}: done in {time.monotonic() - started:.0f} s")
    finally:
        await lock.release()


def last_lines(log: Path, since: int = 0) -> str:
    """The last lines of a log from byte `since` on, preceded by earlier lines that name an error.

    vLLM ends with "see root cause above", so the tail alone would hide what happened.
    """
    if not log.exists():
        return "(no log was written)"
    with log.open("rb") as stream:
        stream.seek(max(since, log.stat().st_size - _TAIL_BYTES))
        lines = stream.read().decode(errors="replace").splitlines()
    lines = [line for line in lines if line.strip(" ^~")]  # blank lines, the underlines of tracebacks
    causes = [line for line in lines[:-_SHOWN_LINES] if _CAUSE.search(line)]
    shown = [*dict.fromkeys(causes[-_SHOWN_CAUSES:]), *lines[-_SHOWN_LINES:]]
    return "\n".join(f"    {shortened(line, _SHOWN_CHARACTERS)}" for line in shown) or "(the log is empty)"
