"""A recorded model gets exactly the official verdicts."""

import gzip
import json
from pathlib import Path

import pytest

from support.official_data import official_store, recordings
from support.small_run import SmallRun

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
RECORDING = recordings() / "evolved-chatgpt.jsonl.gz"
"""GPT-3.5's greedy solutions with the official verdicts."""


@pytest.mark.parametrize(
    ("name", "most"),
    [("combine", 12), *(pytest.param(name, None, marks=pytest.mark.slow) for name in PASSED)],
)
def test_graded_as_samples(tmp_path: Path, name: str, most: int | None) -> None:
    """`triathlon grade` passes as many as published, and the same ones, but for those named as slow.

    `most`: so many samples alone, which take less time.
    """
    official_store()
    if not RECORDING.is_file():
        pytest.skip(f"needs the recorded solutions: no file {str(RECORDING)!r}")
    with gzip.open(RECORDING, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["subset"].removeprefix("EvoEval_") == name]
    rows = rows[:most]
    samples = "".join(json.dumps({key: row[key] for key in ("task_id", "solution")}) + "\n" for row in rows)
    (tmp_path / "samples.jsonl").write_text(samples)
    partial = "--partial" if most else ""
    SmallRun(tmp_path).expect(f"grade samples.jsonl --suite evolved/{name} --out graded.jsonl {partial}", 0)
    graded = map(json.loads, (tmp_path / "graded.jsonl").read_text().splitlines())
    outcomes = {row["task_id"]: row["outcome"] == "passed" for row in graded}
    official = {row["task_id"]: row["published"]["base_status"] == "pass" for row in rows}
    different = {task for task in official if outcomes.get(task) != official[task]}
    assert outcomes.keys() == official.keys()
    # CPU time itself varies on a shared machine: whether a slow one passes decides no test, its count does.
    assert different <= SLOW.get(name, frozenset())
    assert most or sum(outcomes.values()) == PASSED[name] + len(different)
