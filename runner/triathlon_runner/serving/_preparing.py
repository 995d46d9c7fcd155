"""Prepares files in the cache: one run at a time, with progress lines."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

_REPORT_SECONDS = 30.0


@asynccontextmanager
async def exclusive_lock(target: Path, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Holds `TARGET.lock` while `target` is made; the system releases it when the holder's process ends."""
    from filelock import AsyncFileLock, Timeout  # noqa: PLC0415  few commands prepare anything

    target.parent.mkdir(parents=True, exist_ok=True)
    lock = AsyncFileLock(target.with_name(target.name + ".lock"))
    try:
        await lock.acquire(timeout=0.5)
    except Timeout:
        report(f"waiting for another run that prepares {target.name}")
        await lock.acquire()
    try:
        yield
    finally:
        await lock.release()


@asynccontextmanager
async def progress_reports(
    what: str, report: Callable[[str], None], *, every: float = _REPORT_SECONDS
) -> AsyncIterator[None]:
    """Reports `what` and the seconds so far, every `every` seconds until the block ends."""
    started = time.monotonic()

    async def repeat() -> None:
        while True:
            await asyncio.sleep(every)
            report(f"{what}, {time.monotonic() - started:.0f} s so far")

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, read in a thread."""

    def digest() -> str:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return await asyncio.to_thread(digest)
