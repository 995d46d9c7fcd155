"""A small run by the command itself, of a scripted model that knows our problems."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.model_server import model_server_process
from triathlon_runner.cli import add_commands, app

add_commands()

SUITES = "loop/core,runtime/core,evolved/core-seeds"
ROWS = """
models:
  - id: m
    name: M
    api: {{base_url: {url}, model: scripted, key_env: SMALL_RUN_KEY}}
    price: {{input: 1, output: 2}}
"""
KEY = "sk-test-a1b2c3d4e5f6a7b8"


@dataclass(frozen=True)
class SmallRun:
    """A folder with models.yaml, results and cache."""

    root: Path

    @property
    def results(self) -> Path:
        return self.root / "results"

    def call(self, *arguments: str) -> Result:
        """One `triathlon` command in this folder."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.root)
            patch.setenv("TRIATHLON_CACHE", str(self.root / "cache"))
            patch.setenv("SMALL_RUN_KEY", KEY)
            return CliRunner().invoke(app, arguments)

    def run(self, *options: str) -> Result:
        return self.call("run", "--suites", SUITES, "--limit", "2", *options)


def made(root: Path) -> SmallRun:
    """Runs two tasks of a suite of each discipline."""
    small = SmallRun(root)
    with model_server_process("support.core_model:answer") as url:
        (root / "models.yaml").write_text(ROWS.format(url=url))
        result = small.run("--log-json", "run.log")
    assert result.exit_code == 0, result.output
    (root / "first.txt").write_text(result.output)
    return small
