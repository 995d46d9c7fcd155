"""Long work shows signs of life."""

import asyncio

from triathlon_runner.serving._preparing import progress_reports


async def test_ticks_until_the_end() -> None:
    """What runs long is reported now and again, and no longer once it has ended."""
    reported: list[str] = []
    second = asyncio.Event()

    def report(line: str) -> None:
        reported.append(line)
        if len(reported) == 2:
            second.set()

    async with progress_reports("converting", report, every=0.01):
        await second.wait()
    ended_with = len(reported)
    await asyncio.sleep(0.05)
    assert reported[0] == "converting, 0 s so far"
    assert len(reported) == ended_with
