"""What may go wrong while a run goes on, and what is said of it, on the command itself."""

import json
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.small_run import KEY, ROWS, SmallRun
from triathlon_runner.evolved import _suite as evolved
from triathlon_runner.replies import Extraction, extract_program

OPTIONS = ("run", "--suites", "evolved/core-seeds", "--limit", "4")


def broken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the judgement of the first reply fail in a way that nobody has thought of."""
    replies: list[object] = []

    async def extract(*arguments: object, **settings: object) -> Extraction:
        replies.append(arguments)
        if len(replies) == 1:
            raise OverflowError("int too large to convert")
        return extract_program(*arguments, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(evolved, "extract", extract)


def test_one_reply_never_ends_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit stays open with the error as its reason, the others are finished, a log has the traceback."""
    place = SmallRun(tmp_path)
    with model_server_process("support.core_model:answer") as url:
        (tmp_path / "models.yaml").write_text(ROWS.format(url=url))
        with monkeypatch.context() as patch:
            broken_once(patch)
            result = place.call(*OPTIONS, "--log-json", "run.log")
        assert result.exit_code == 1, result.output
        assert "3 units finished, 1 open" in result.output
        assert "OverflowError: int too large to convert" in result.output
        assert "Traceback" not in result.output
        log = tmp_path / "cache" / "logs" / "errors.log"
        assert f"1 unit met an error in this program; please report {log}" in result.output
        assert "Traceback" in log.read_text() and "in extract" in log.read_text()
        events = [json.loads(line) for line in (tmp_path / "run.log").read_text().splitlines()]
        (error,) = [event for event in events if event["event"] == "error"]
        assert "OverflowError" in error["traceback"] and "m evolved/core-seeds" in error["text"]
        assert place.call(*OPTIONS).exit_code == 0


def test_unknown_cost_is_said_to_be_unknown(tmp_path: Path) -> None:
    """Where a server counts no tokens: the summary estimates, and says so; the manifest names no cost."""
    place = SmallRun(tmp_path)
    with model_server_process("support.server_scripts:uncounted") as url:
        (tmp_path / "models.yaml").write_text(ROWS.format(url=url))
        result = place.call(*OPTIONS, "--budget", "1")
    assert result.exit_code == 0, result.output
    assert "estimated by the length of texts: the server of m gives no usable token counts" in result.output
    assert (
        "gave no usable token counts for 4 replies: tokens are unknown, the cost is estimated"
        in result.output
    )
    manifest = json.loads((place.results / "runs" / "m" / "evolved" / "core-seeds.manifest.json").read_text())
    assert (manifest["cost_usd"], manifest["usage"]["uncounted"]) == (None, 4)


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
