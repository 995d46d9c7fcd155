"""Prepares files in the cache: one run at a time, with progress lines."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from triathlon_runner.serving._children import inherited_variables, run
from triathlon_runner.serving._errors import ServingError, last_lines

_REPORT_SECONDS = 30.0


async def prepare_once(
    target: Path,
    make: Callable[[], Awaitable[None]],
    what: str,
    report: Callable[[str], None],
    *,
    complete: Path | None = None,
) -> None:
    """Makes a file or folder if it is not there. Where another run is making it, waits for that.

    Args:
        target: The file or folder; the lock `TARGET.lock` is released when its holder's process ends.
        make: Makes it, whole or not at all.
        what: Says what is done, such as `installing vllm 1.0`.
        report: Gets a line at the begin, at the end and every 30 s in between.
        complete: The file that shows that the target is complete; left out: the target itself.
    """
    from filelock import AsyncFileLock, Timeout  # noqa: PLC0415  few commands prepare anything

    target.parent.mkdir(parents=True, exist_ok=True)
    lock = AsyncFileLock(target.with_name(target.name + ".lock"))
    try:
        await lock.acquire(timeout=0.5)
    except Timeout:
        report(f"waiting for another run that prepares {target.name}")
        await lock.acquire()
    try:
        if not (complete or target).exists():
            report(f"{what} (once)")
            started = time.monotonic()
            reports = asyncio.create_task(_report_often(what, started, report))
            try:
                await make()
            finally:
                reports.cancel()
            report(f"{what}: done in {time.monotonic() - started:.0f} s")
    finally:
        await lock.release()


async def _report_often(what: str, started: float, report: Callable[[str], None]) -> None:
    while True:
        await asyncio.sleep(_REPORT_SECONDS)
        report(f"{what}, {time.monotonic() - started:.0f} s so far")


async def run_step(
    command: Sequence[str | Path],
    log: Path,
    failure: str,
    *,
    inherits: Sequence[str] = (),
    advice: str = "",
) -> None:
    """Runs a command, offline for Hugging Face's libraries; `inherits`: see `inherited_variables`.

    Raises:
        ServingError: it failed: `failure`, the last lines of the log, and `advice`.
    """
    env = {**inherited_variables(*inherits), "HF_HUB_OFFLINE": "1"}
    if status := await run([str(part) for part in command], env=env, log=log):
        raise ServingError(f"{failure} (exit status {status}):\n{last_lines(log)}{advice}")


async def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read in a thread."""

    def digest() -> str:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return await asyncio.to_thread(digest)
