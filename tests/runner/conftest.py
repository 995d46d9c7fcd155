"""The sandbox, the grader and the questions that tests of several disciplines share."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support import built_questions
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


@pytest.fixture(scope="session")
def question_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file `mine.json` with the questions of two small programs."""
    path = tmp_path_factory.mktemp("questions") / "mine.json"
    asyncio.run(built_questions.build(path))
    return path
