"""What may go wrong while a run goes on, and what is said of it, on the command itself."""

import asyncio
from pathlib import Path
from unittest.mock import DEFAULT, patch

import pytest

from support.core_model import answer
from support.model_server import ModelServer
from support.server_replies import Asked, Response, Said, Status
from support.small_run import KEY, ROWS, SUITES, SmallRun, served, started
from triathlon_runner.evolved import _suite as evolved
from triathlon_runner.records import LoopRecord
from triathlon_runner.store import read_records

RUN = "run --suites evolved/core-seeds --limit 4"


def test_one_reply_never_ends_a_run(tmp_path: Path) -> None:
    """The unit stays open with the error as its reason, the others are finished, a log has the traceback."""
    effects = [OverflowError("int too large to convert"), DEFAULT, DEFAULT, DEFAULT]
    with served(tmp_path) as place:
        with patch.object(evolved, "extract", wraps=evolved.extract, side_effect=effects):
            log = tmp_path / "cache" / "logs" / "errors.log"
            report = f"1 unit met an error in this program; please report {log}"
            error = "OverflowError: int too large to convert"
            place.expect(RUN, 1, "3 units finished, 1 open", error, "!Traceback", report, "!not asked")
        traceback = log.read_text()
        assert "m evolved/core-seeds" in traceback and "Traceback" in traceback and "_suite.py" in traceback
        place.expect(RUN, 0)


@pytest.mark.parametrize("tasks", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_a_server_that_gives_the_key_back(tmp_path: Path, tasks: int) -> None:
    """However a server echoes it, it is in no results, cache or manifest, and not on the screen."""
    with served(tmp_path, "support.server_scripts:echo_key") as place:
        suites = "evolved/core-seeds,loop/core" if tasks > 2 else "evolved/core-seeds"
        result = place.call("run", "--suites", suites, "--limit", f"{tasks}")
    assert result.exit_code in (0, 1), result.output
    assert KEY not in result.output
    stored = "".join(path.read_text() for path in place.results.rglob("*.json*"))
    assert "[key removed]" in result.output + stored
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    assert {"replies.sqlite", "core-seeds.jsonl", "core-seeds.manifest.json"} <= names
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


JUDGED = """
judge: the-judge
models:
  - {{id: m, api: {{base_url: "{url}", model: scripted}}}}
  - {{id: the-judge, api: {{base_url: "{judge}", model: scripted}}}}
"""
NO_QUOTA = Status(429, "You exceeded your current quota", "insufficient_quota")


@pytest.mark.parametrize(
    ("replies", "failure"),
    [
        pytest.param(0, Status(402, "Payment required"), id="402", marks=pytest.mark.slow),
        pytest.param(1, NO_QUOTA, id="quota"),
        pytest.param(0, Status(404, "no such model: scripted"), id="gone", marks=pytest.mark.slow),
    ],
)
async def test_a_lost_judge_ends_no_model(tmp_path: Path, replies: int, failure: Status) -> None:
    """Every unit is finished, similarities from then on are unknown, and the message names the judge."""

    def judge(asked: Asked) -> Response:
        return Said("0.5") if asked.number < replies else failure

    run = ("run", "--models", "m", "--suites", "loop/core,evolved/core-seeds", "--limit", "8")
    async with ModelServer(answer) as server, ModelServer(judge) as other:
        (tmp_path / "models.yaml").write_text(JUDGED.format(url=server.base_url, judge=other.base_url))
        process = await started(tmp_path, *run)
        output, _ = await process.communicate()
    said = output.decode()
    assert process.returncode == 0 and "0 open" in said, said
    assert "the judge the-judge cannot be asked any more" in said
    assert not any(line.startswith("m:") for line in said.splitlines())
    place = SmallRun(tmp_path)
    records = read_records(place.lines("loop/core"), LoopRecord)
    found = [record for record in records if 0 < record.sustained_loops < 10]
    known = [record.similarity for record in found if record.similarity is not None]
    assert known == [0.5] * replies
    assert len(found) > replies, "a task that failed behind a passed loop"
    await asyncio.to_thread(place.expect, "verify", 0)


def test_a_judge_without_its_key_outdates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a shell that lacks the key, judged loops are still current: `archive --outdated` leaves them."""
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with served(tmp_path, rows=JUDGED.replace('{judge}", ', '{url}", key_env: JUDGE_KEY, ')) as place:
        place.expect("run --models m --suites loop/core --limit 1", 0, "1 unit finished")
    monkeypatch.delenv("JUDGE_KEY")
    assert place.listed()["loop/core"]["short"] == "current"
    place.expect("results archive --outdated", 0, "0 results files archived")
    place.expect("run --models m --suites loop/core --limit 1", 0, "loops that it judged are kept apart")


@pytest.mark.slow
def test_the_results_are_those_of_a_calm_run(tmp_path: Path) -> None:
    """Whatever goes wrong on the way, in the end every line and manifest is that of a calm server's run."""
    results = []
    impatient = ROWS.replace("model: scripted", "model: scripted, timeout_seconds: 2, concurrency: 16")
    for script in ("support.core_model:answer", "support.server_scripts:answer_at_times"):
        root = tmp_path / script.partition(":")[2]
        root.mkdir()
        with served(root, script, impatient) as place:
            said = place.expect(f"run --suites {SUITES},evolved/core-combine --limit 2", 0)
        results.append(place.timeless("served_by"))
    assert results[0] == results[1]
    assert "trying again" in said
