"""The sandboxes that every test of the contract runs against."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from triathlon_runner.sandbox import Sandbox, SandboxError, open_sandbox


@pytest_asyncio.fixture(params=["namespaces", "lite"], scope="module", loop_scope="module")
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """A sandbox of each level; a level that the kernel refuses is skipped with its reason."""
    try:
        async with open_sandbox(request.param, jobs=2) as opened:
            yield opened
    except SandboxError as error:
        if "this isolation level does not work here" not in str(error):
            raise
        pytest.skip(f"this machine refuses it: {error}")
