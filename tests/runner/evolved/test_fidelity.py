"""A recorded model gets exactly the official verdicts: all graded as samples, some replayed by a server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.official_data import official_store
from support.recorded_replies import RECORDING, SUBSET, recorded

pytestmark = pytest.mark.official

PASSED = {
    "difficult": 33,
    "creative": 42,
    "subtle": 70,
    "combine": 33,
    "tool_use": 64,
    "verbose": 116,
    "concise": 112,
    "humaneval": 126,
}
"""EvoEval's counts for GPT-3.5: the paper's table 1 and the public board."""
MODELS = """\
models:
  - id: chatgpt
    name: Recorded
    api: {{base_url: "{base_url}", model: recorded, concurrency: 4}}
"""


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = official_store().folder
    if not RECORDING.is_file():
        pytest.skip(f"needs the recorded solutions: no file {str(RECORDING)!r}")
    monkeypatch.setenv("TRIATHLON_DATA", str(folder))
    yield


def _triathlon(place: Path, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("triathlon")), *arguments]
    environment = {**os.environ, "TRIATHLON_CACHE": str(place / "cache")}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _run(place: Path, suite: str, *options: str) -> dict[str, bool]:
    """One `triathlon run` of the recorded model; which tasks it passed."""
    os.environ[SUBSET] = suite
    with model_server_process("support.recorded_replies:chatgpt", "--model", "recorded") as base_url:
        (place / "models.yaml").write_text(MODELS.format(base_url=base_url))
        _triathlon(place, "run", "--suites", suite, *options)
    lines = (place / f"results/runs/chatgpt/{suite}.jsonl").read_text().splitlines()
    return {row["task_id"]: row["outcome"] == "passed" for row in map(json.loads, lines)}


def _official(suite: str) -> dict[str, bool]:
    return {
        row["task_id"]: row["published"]["base_status"] == "pass"
        for row in recorded()
        if row["suite"] == suite
    }


SLOW = {"combine": frozenset({"EvoEval/65"})}
"""Officially failed, by a limit: its fifth input alone takes 4 s of CPU time, all of them 5.5 s, of our 10.

So combine has 34 here where the board has 33; everything else is the board's, one by one.
"""


def _check(name: str, outcomes: dict[str, bool]) -> None:
    """All tasks end as the official board says, one by one, but for those named as slow."""
    official = _official(f"evolved/{name}")
    different = {task for task in official if outcomes.get(task) != official[task]}
    assert outcomes.keys() == official.keys()
    # CPU time itself varies on a shared machine: whether a slow one passes decides no test, its count does.
    assert different <= SLOW.get(name, frozenset())
    assert sum(outcomes.values()) == PASSED[name] + len(different)


@pytest.mark.usefixtures("data")
def test_a_few_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some tasks of a suite, asked, taken out of the reply and judged, end as the board says."""
    monkeypatch.setenv(SUBSET, "")
    outcomes = _run(tmp_path, "evolved/combine", "--limit", "12")
    expected = _official("evolved/combine")
    assert len(outcomes) == 12
    assert outcomes == {task_id: expected[task_id] for task_id in outcomes}


@pytest.mark.slow
@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("name", PASSED)
def test_graded_as_samples(tmp_path: Path, name: str) -> None:
    """`triathlon grade` passes 33, 42, 70, 33, 64, 116, 112 and 126 of them, as published."""
    suite = f"evolved/{name}"
    rows = [{"task_id": r["task_id"], "solution": r["solution"]} for r in recorded() if r["suite"] == suite]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _triathlon(tmp_path, "grade", "samples.jsonl", "--suite", suite, "--out", "graded.jsonl")
    lines = map(json.loads, (tmp_path / "graded.jsonl").read_text().splitlines())
    _check(name, {line["task_id"]: line["outcome"] == "passed" for line in lines})
