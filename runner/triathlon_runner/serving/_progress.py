"""A sign of life while something long runs."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

_EVERY_SECONDS = 30.0


@asynccontextmanager
async def ticking(
    what: str, report: Callable[[str], None], *, every: float = _EVERY_SECONDS
) -> AsyncIterator[None]:
    """Reports `what` and its seconds now and again until the block ends."""
    started = time.monotonic()

    async def tick() -> None:
        while True:
            await asyncio.sleep(every)
            report(f"{what}, {time.monotonic() - started:.0f} s so far")

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
