"""The workflows and the action: what they run is fixed, ends, and signs nothing where programs run."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.name: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").iterdir()}
JOBS = [
    pytest.param(workflow, job, id=f"{name} {job_id}")
    for name, workflow in WORKFLOWS.items()
    for job_id, job in workflow["jobs"].items()
]
RIGHTS_TO_SIGN = {"id-token", "attestations"}


@pytest.mark.parametrize(("workflow", "job"), JOBS)
def test_a_job_is_bounded_and_pinned(workflow: dict[str, Any], job: dict[str, Any]) -> None:
    """It has a time limit; actions are named by commit; a checkout leaves no token behind."""
    assert workflow["permissions"].get("contents", "read") == "read" and job["timeout-minutes"] <= 360
    for step in job["steps"]:
        assert re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize(("workflow", "job"), JOBS)
def test_a_job_that_may_sign_runs_no_command(workflow: dict[str, Any], job: dict[str, Any]) -> None:
    """Models' programs, and whatever a build reads, are in another job."""
    rights = workflow["permissions"] | job.get("permissions", {})
    assert not (RIGHTS_TO_SIGN & rights.keys()) or all("run" not in step for step in job["steps"])


def test_the_action_is_pinned() -> None:
    """The one that others use in their workflows."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.search(r"@[0-9a-f]{40}$", name) for name in used)
