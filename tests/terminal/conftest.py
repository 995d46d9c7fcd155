"""A server with a good, a broken and a hostile model, and folders to run commands in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.terminal_place import Place


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    script = "support.server_scripts:bad_replies"
    with model_server_process(script, "--latency", "0.3", "--slots", "2") as url:
        yield url


@pytest.fixture
def place(tmp_path: Path, url: str) -> Place:
    return Place(tmp_path, url)


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory, url: str) -> Place:
    """A place where a run of the good model has finished; for commands that only read."""
    place = Place(tmp_path_factory.mktemp("measured"), url)
    place.see("run", "--models", "good-model-instruct", "--suites", "evolved/core-seeds", "--limit", "2")
    return place
