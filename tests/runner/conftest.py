"""The sandbox and the grader that tests of several disciplines share."""

from collections.abc import AsyncIterator

import pytest

from triathlon_runner.grading import Grader, ProgramGrader
from triathlon_runner.sandbox import Sandbox, open_sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A sandbox on this machine."""
    async with open_sandbox(jobs=2) as opened:
        yield opened


@pytest.fixture
def grader(sandbox: Sandbox) -> Grader:
    """A grader whose answer keys are made anew."""
    return ProgramGrader(sandbox)
