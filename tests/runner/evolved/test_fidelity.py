"""A recorded model gets exactly the official verdicts."""

import gzip
import json
from pathlib import Path

import pytest

from support.import_place import write_lines
from support.official_data import official_store, recordings
from support.small_run import SmallRun

pytestmark = [pytest.mark.official, pytest.mark.slow]

RECORDING = recordings() / "evolved-chatgpt.jsonl.gz"
"""GPT-3.5's greedy solutions with the official verdicts."""
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


@pytest.mark.parametrize("name", PASSED)
def test_graded_as_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """`triathlon grade` passes as many as published, and the same ones, but for those named as slow."""
    monkeypatch.setenv("TRIATHLON_DATA", str(official_store().folder))
    if not RECORDING.is_file():
        pytest.skip(f"needs the recorded solutions: no file {str(RECORDING)!r}")
    with gzip.open(RECORDING, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["subset"].removeprefix("EvoEval_") == name]
    official = {row["task_id"]: row["published"]["base_status"] == "pass" for row in rows}
    samples = ({"task_id": row["task_id"], "solution": row["solution"]} for row in rows)
    write_lines(tmp_path / "samples.jsonl", *samples)
    SmallRun(tmp_path).expect(f"grade samples.jsonl --suite evolved/{name} --out graded.jsonl", 0)
    graded = map(json.loads, (tmp_path / "graded.jsonl").read_text().splitlines())
    outcomes = {line["task_id"]: line["outcome"] == "passed" for line in graded}
    different = {task for task in official if outcomes.get(task) != official[task]}
    assert outcomes.keys() == official.keys()
    # CPU time itself varies on a shared machine: whether a slow one passes decides no test, its count does.
    assert different <= SLOW.get(name, frozenset())
    assert sum(outcomes.values()) == PASSED[name] + len(different)
