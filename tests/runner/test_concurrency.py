"""Coroutines that run at the same time."""

import asyncio

import pytest

from triathlon_runner.concurrency import run_all


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_the_clean_up_of_all_is_waited_for(is_cancelled: bool) -> None:
    """Where the caller is cancelled, and where one of them fails: the error is that one's, in no group."""
    cleaned: list[float] = []

    async def work(seconds: float) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(seconds)
            cleaned.append(seconds)

    async def fail() -> None:
        await asyncio.sleep(0.01)
        raise KeyError("a")

    workers = [work(0.0), work(0.05)]
    task = asyncio.ensure_future(run_all(workers if is_cancelled else [*workers, fail()]))
    await asyncio.sleep(0.02)
    if is_cancelled:
        task.cancel()
    with pytest.raises(asyncio.CancelledError if is_cancelled else KeyError):
        await task
    assert cleaned == [0.0, 0.05]
