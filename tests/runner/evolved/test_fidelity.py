"""A recorded model gets exactly the official verdicts: all graded as samples, some replayed by a server."""

import json
import subprocess
import sys
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
SLOW = {"combine": frozenset({"EvoEval/65"})}
"""Officially failed, by a limit: its fifth input alone takes 4 s of CPU time, all of them 5.5 s, of our 10.

So combine has 34 here where the board has 33; everything else is the board's, one by one.
"""
MODELS = """\
models:
  - {{id: chatgpt, name: Recorded, api: {{base_url: "{base_url}", model: recorded, concurrency: 4}}}}
"""


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = official_store().folder
    if not RECORDING.is_file():
        pytest.skip(f"needs the recorded solutions: no file {str(RECORDING)!r}")
    monkeypatch.setenv("TRIATHLON_DATA", str(folder))
    monkeypatch.setenv("TRIATHLON_CACHE", str(tmp_path / "cache"))
    return tmp_path


def _triathlon(place: Path, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("triathlon")), *arguments]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _passed(path: Path) -> dict[str, bool]:
    rows = map(json.loads, path.read_text().splitlines())
    return {row["task_id"]: row["outcome"] == "passed" for row in rows}


def _official(suite: str) -> dict[str, bool]:
    rows = (row for row in recorded() if row["suite"] == suite)
    return {row["task_id"]: row["published"]["base_status"] == "pass" for row in rows}


def test_a_few_tasks(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some tasks of a suite, asked, taken out of the reply and judged, end as the board says."""
    suite = "evolved/combine"
    monkeypatch.setenv(SUBSET, suite)
    with model_server_process("support.recorded_replies:chatgpt", "--model", "recorded") as base_url:
        (place / "models.yaml").write_text(MODELS.format(base_url=base_url))
        _triathlon(place, "run", "--suites", suite, "--limit", "12")
    outcomes = _passed(place / f"results/runs/chatgpt/{suite}.jsonl")
    assert len(outcomes) == 12
    assert outcomes.items() <= _official(suite).items()


@pytest.mark.slow
@pytest.mark.parametrize("name", PASSED)
def test_graded_as_samples(place: Path, name: str) -> None:
    """`triathlon grade` passes as many as published, and the same ones, but for those named as slow."""
    suite = f"evolved/{name}"
    rows = [{"task_id": r["task_id"], "solution": r["solution"]} for r in recorded() if r["suite"] == suite]
    (place / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _triathlon(place, "grade", "samples.jsonl", "--suite", suite, "--out", "graded.jsonl")
    outcomes, official = _passed(place / "graded.jsonl"), _official(suite)
    different = {task for task in official if outcomes.get(task) != official[task]}
    assert outcomes.keys() == official.keys()
    # CPU time itself varies on a shared machine: whether a slow one passes decides no test, its count does.
    assert different <= SLOW.get(name, frozenset())
    assert sum(outcomes.values()) == PASSED[name] + len(different)
