"""The sandbox that the tests of grading share."""

from collections.abc import AsyncIterator

import pytest_asyncio

from triathlon_runner.sandbox import Sandbox, open_sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """The strongest sandbox of this machine."""
    async with open_sandbox(jobs=2) as opened:
        yield opened
