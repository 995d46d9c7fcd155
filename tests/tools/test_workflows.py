"""The workflows and the action: what they run is fixed, ends, and signs nothing where programs run."""

import re
import shutil
import subprocess
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
    """Actions are named by commit, a checkout leaves no token, and a job that may sign runs no command."""
    assert workflow["permissions"].get("contents", "read") == "read" and job["timeout-minutes"] <= 360
    for step in job["steps"]:
        assert re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    rights = workflow["permissions"] | job.get("permissions", {})
    assert not (RIGHTS_TO_SIGN & rights.keys()) or all("run" not in step for step in job["steps"])


def test_the_action_is_pinned() -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.search(r"@[0-9a-f]{40}$", name) for name in used)


def test_the_published_site_follows_whatever_shapes_it() -> None:
    """A change of the runner, too, which has metrics, prompts and problems; the docs are made beside it."""
    paths = WORKFLOWS["pages.yml"][True]["push"]["paths"]  # YAML 1.1 reads `on` as true
    shaping = {"results/**", "runner/**", "site/**", "templates/**", "tools/**", "docs/**", "models.yaml"}
    assert shaping | {"mkdocs.yml", "pyproject.toml"} == set(paths)
    runs = [step.get("run") for step in WORKFLOWS["pages.yml"]["jobs"]["build"]["steps"]]
    assert runs.index("make site") < runs.index("make docs") < len(runs) - 1


def test_the_container_gets_every_program(tmp_path: Path) -> None:
    """Debian's image has perl alone; what is missing is installed all the same."""
    stubs = {"perl": "", "rm": "", "apt-get": f'echo "$@" >> {tmp_path}/asked'}
    for name, does in stubs.items():
        (tmp_path / name).write_text(f"#!{shutil.which('sh')}\n{does}\n")
        (tmp_path / name).chmod(0o755)
    command = [str(shutil.which("bash")), str(ROOT / "tools/container/install"), str(ROOT)]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 127 and "python3" in done.stderr  # nothing was installed by the stub
    assert re.search(
        r"^install .*python3-venv perl php-cli php-mbstring ruby nodejs$",
        (tmp_path / "asked").read_text(),
        re.M,
    )


def test_a_clone_has_the_same_bytes_everywhere() -> None:
    """Under Windows, too, where git changes ends of lines: a script of the container would not start."""
    paths = ["tools/container/install", "results/runs/m/loop/core.jsonl", "models.yaml"]
    command = ["git", "-C", str(ROOT), "check-attr", "text", "--", *paths]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [f"{path}: text: unset" for path in paths]
