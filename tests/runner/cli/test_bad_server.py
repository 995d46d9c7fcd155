"""A whole run against a server that misbehaves three times in ten."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.model_server import model_server_process
from support.small_run import SmallRun

ROWS = """
models:
  - id: m
    name: M
    api: {{base_url: "{url}", model: scripted, key_env: SMALL_RUN_KEY, timeout_seconds: 2, concurrency: 16}}
"""
SUITES = "loop/core,runtime/core,evolved/core-seeds,evolved/core-combine"
TIMES = {"seconds", "started", "ended", "tokens_per_second", "bytes"}


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if key not in TIMES}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def results(place: SmallRun) -> dict[str, Any]:
    """Every line and manifest, without what tells the time and where the server was."""
    found = {}
    for path in sorted((place.results / "runs").rglob("*.json*")):
        lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        found[path.name] = [timeless(json.loads(line)) for line in lines]
        for line in found[path.name]:
            line.pop("served_by", None)
    return found


def run(root: Path, script: str) -> SmallRun:
    place = SmallRun(root)
    with model_server_process(script) as url:
        (root / "models.yaml").write_text(ROWS.format(url=url))
        result = place.call("run", "--suites", SUITES, "--limit", "2", "--log-json", "log")
    assert result.exit_code == 0, result.output
    return place


@pytest.mark.slow
def test_the_results_are_those_of_a_calm_run(tmp_path: Path) -> None:
    """Whatever goes wrong on the way, in the end every line and manifest is that of a calm server's run."""
    for name in ("calm", "bad"):
        (tmp_path / name).mkdir()
    calm = run(tmp_path / "calm", "support.core_model:answer")
    bad = run(tmp_path / "bad", "support.server_scripts:answer_at_times")
    assert results(bad) == results(calm)
    events = [json.loads(line) for line in (bad.root / "log").read_text().splitlines()]
    (counted,) = [event for event in events if event["event"] == "model_end"]
    assert counted["retries"] > 5
    assert counted["throttled"] > 0
