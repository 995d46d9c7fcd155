"""One run at a time prepares a thing in the cache; the others wait and then find it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path


@asynccontextmanager
async def alone(target: Path, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Holds the lock beside `target`; the system lets go of it when its holder dies."""
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
