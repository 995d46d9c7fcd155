"""A folder in which `triathlon gate` runs, with models of which it is known how many tasks they solve."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.model_server import model_server_process

MODELS = ("good", "same", "worse", "half")
SEEDS = ("--suites", "evolved/core-seeds")


class GatePlace:
    """Runs commands in a folder with a models.yaml, and knows how many requests the server got."""

    def __init__(self, root: Path, base_url: str) -> None:
        self.root = root
        self.log = root / "requests.jsonl"
        rows = (
            f'  - {{id: {model}, name: {model}, api: {{base_url: "{base_url}", model: {model}}},'
            " price: {input: 1, output: 2}}\n"
            for model in MODELS
        )
        (root / "models.yaml").write_text("models:\n" + "".join(rows))
        self.environment = {**os.environ, "TRIATHLON_CACHE": str(root / "cache")}
        self.environment.pop("TRIATHLON_DATA", None)

    def call(self, *arguments: str, code: int) -> subprocess.CompletedProcess[str]:
        """Runs `triathlon` with these arguments to its end, which is to be this exit code."""
        command = [str(Path(sys.executable).with_name("triathlon")), *arguments]
        options: Any = {"cwd": self.root, "env": self.environment, "capture_output": True, "text": True}
        done = subprocess.run(command, check=False, timeout=300, **options)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def gate(self, candidate: str, *arguments: str, code: int) -> dict[str, Any]:
        """The JSON report of a gate against the model `good`."""
        asked = ("gate", "--baseline", "good", "--candidate", candidate, "--json")
        report: dict[str, Any] = json.loads(self.call(*asked, *arguments, code=code).stdout)
        return report

    @property
    def requests(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0

    def lines(self, model: str, suite: str = "evolved/core-seeds") -> list[dict[str, Any]]:
        path = self.root / "results/runs" / model / f"{suite}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


@contextmanager
def gate_place(root: Path, script: str = "reference_unless_worse") -> Iterator[GatePlace]:
    """A place of its own with a server of its own, which answers by this function of `server_scripts`."""
    log = str(root / "requests.jsonl")
    with model_server_process(f"support.server_scripts:{script}", "--log", log) as url:
        yield GatePlace(root, url)
