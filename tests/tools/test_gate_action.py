"""`tools/gate-action`, which `action.yml` runs: inputs, the job's summary, outputs and exit codes."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.server_scripts import RATED
from support.small_run import SmallRun, served

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[SmallRun]:
    with served(tmp_path, *RATED) as place:
        yield place


def act(place: SmallRun, **inputs: str) -> tuple[subprocess.CompletedProcess[str], str, dict[str, str]]:
    """Runs the script as the action does; returns its end, the job's summary and the outputs."""
    files = {name: place.root / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for file in files.values():
        file.write_text("")
    environment = {
        **os.environ,
        "TRIATHLON_CACHE": str(place.root / "cache"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(place.root),
        **{name: str(file) for name, file in files.items()},
        **{f"GATE_{name.upper()}": value for name, value in inputs.items()},
    }
    done = subprocess.run(
        [str(ROOT / "tools/gate-action")],
        check=False,
        cwd=place.root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return done, files["GITHUB_STEP_SUMMARY"].read_text(), outputs


def test_a_worse_candidate_fails_the_step(place: SmallRun) -> None:
    """Exit code 1; the summary has the report, the outputs verdict, difference and the JSON file."""
    done, summary, outputs = act(place, baseline="good", candidate="worse", suites="evolved/core-seeds")
    assert done.returncode == 1, done.stderr
    assert "worse against good: WORSE" in summary and summary in done.stdout
    report: dict[str, Any] = json.loads(Path(outputs["report"]).read_text())
    assert outputs["verdict"] == report["verdict"] == "worse"
    assert float(outputs["difference"]) == report["difference"] < 0


@pytest.mark.parametrize(("fails", "code"), [("false", 0), ("true", 3)])
def test_undecided_passes_with_a_warning_or_fails(place: SmallRun, fails: str, code: int) -> None:
    inputs = {"suites": "evolved/core-seeds", "max_tasks": "5", "fail_on_undecided": fails}
    done, _, outputs = act(place, baseline="good", candidate="same", **inputs)
    assert (done.returncode, outputs["verdict"]) == (code, "undecided")
    assert ("::warning" in done.stdout) == (fails == "false")


def test_a_users_error_fails_the_step(place: SmallRun) -> None:
    done, summary, outputs = act(place, baseline="good", candidate="$(touch hacked)")
    assert done.returncode == 2 and "$(touch hacked)" in done.stderr
    assert (summary, outputs) == ("", {})
    assert not (place.root / "hacked").exists(), "an input is data, never a command"
    done, _, _ = act(place, baseline="good", candidate="same", fail_on_undecided="maybe")
    assert done.returncode == 2 and "expected fail-on-undecided to be true or false" in done.stderr


def test_each_input_of_the_action_reaches_the_script() -> None:
    """action.yml hands each input on as a variable that the script reads, and none in a command."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = action["runs"]["steps"]
    (gate,) = [step for step in steps if step.get("id") == "gate"]
    read = set(re.findall(r"\bGATE_[A-Z_]+", (ROOT / "tools/gate-action").read_text()))
    assert set(gate["env"]) == read
    named = {value.removeprefix("${{ inputs.").removesuffix(" }}") for value in gate["env"].values()}
    assert named == set(action["inputs"]) - {"python-version"}
    assert not any("inputs." in step.get("run", "") for step in steps)
    outputs = {value["value"] for value in action["outputs"].values()}
    assert outputs == {f"${{{{ steps.gate.outputs.{name} }}}}" for name in action["outputs"]}
