"""Models without a row, and servers with nothing to grade: what a run says before it asks and at its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.small_run import SmallRun, transcripts
from triathlon_runner.cli._report import warnings_about
from triathlon_runner.llm import EndpointStats
from triathlon_runner.schedule import Account


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server and the file with its requests."""
    (log := tmp_path_factory.mktemp("server") / "requests").touch()
    with model_server_process("support.server_scripts:bad_replies", "--log", str(log)) as url:
        yield url, log


@transcripts(Path(__file__).with_name("served.txt"))
def test_what_a_run_says_of_its_server(tmp_path: Path, server: tuple[str, Path], steps: str) -> None:
    """What cannot be asked, paid for or judged: said with its reason, its number and what to do."""
    SmallRun(tmp_path).play(steps.replace("{url}", server[0]).replace("{log}", str(server[1])))


def test_the_last_error_of_a_server_that_answers_nothing() -> None:
    """The end says why nothing was finished, also where a stop came while all was tried again."""
    account = Account("busy", EndpointStats(retried_error="429, Too many requests"), None)
    assert list(warnings_about(account)) == ["the last error of busy: 429, Too many requests"]
