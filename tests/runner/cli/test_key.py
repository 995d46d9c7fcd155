"""A key stands nowhere but in the request that it is sent with."""

from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.small_run import KEY, ROWS, SmallRun


@pytest.mark.parametrize("tasks", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_a_server_that_gives_it_back(tmp_path: Path, tasks: int) -> None:
    """However a server echoes the key, it is in no results, cache, log or manifest, and not on the screen."""
    place = SmallRun(tmp_path)
    with model_server_process("support.server_scripts:echo_key") as url:
        (tmp_path / "models.yaml").write_text(ROWS.format(url=url))
        suites = "evolved/core-seeds,loop/core" if tasks > 2 else "evolved/core-seeds"
        result = place.call("run", "--suites", suites, "--limit", f"{tasks}", "--log-json", "log")
    assert result.exit_code in (0, 1), result.output
    assert KEY not in result.output
    assert "[key removed]" in (tmp_path / "log").read_text() + result.output + "".join(
        path.read_text() for path in place.results.rglob("*.json*")
    )
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"log", "replies.sqlite", "core-seeds.jsonl", "core-seeds.manifest.json"} <= {
        path.name for path in files
    }
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
