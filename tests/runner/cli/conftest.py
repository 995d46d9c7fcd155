"""One small run that all tests of the commands share: making it takes half a minute."""

import shutil
from pathlib import Path

import pytest

from support.small_run import SmallRun, made


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A finished run, to be looked at only."""
    return made(tmp_path_factory.mktemp("small"))


@pytest.fixture
def small(finished: SmallRun, tmp_path: Path) -> SmallRun:
    """A copy that a test may spoil."""
    shutil.copytree(finished.root, tmp_path / "copy")
    return SmallRun(tmp_path / "copy")
