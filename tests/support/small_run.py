"""A small run by the command itself, of a scripted model that knows our problems."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from typer.testing import CliRunner, Result

from support.case_files import sections
from support.model_server import model_server_process
from triathlon_runner.cli import add_commands, app
from triathlon_runner.errors import UserError, leaves

add_commands()

SUITES = "loop/core,runtime/core,evolved/core-seeds"
RUN = f"run --suites {SUITES} --limit 2"
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
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.root)
            patch.setenv("TRIATHLON_CACHE", str(self.root / "cache"))
            patch.setenv("SMALL_RUN_KEY", KEY)
            patch.delenv("TRIATHLON_MODELS", raising=False)
            return CliRunner().invoke(app, arguments)

    def says(self, *arguments: str) -> tuple[int, str]:
        """Exit code of a command, and all that a person reads of it."""
        result = self.call(*arguments)
        error = next(leaves(result.exception or Exception()))
        if isinstance(error, UserError):  # the entry point prints it and ends with 2
            return 2, f"{result.output}{error}"
        return result.exit_code, result.output

    def expect(self, line: str, code: int, *texts: str) -> str:
        """What a command says, which ends with this exit code; of texts that begin with `!` it has none."""
        ended, said = self.says(*line.split())
        assert ended == code, said
        for text in texts:
            assert (text.removeprefix("!") in said) is not text.startswith("!"), f"{text}: {said}"
        return said

    def listed(self, *options: str) -> dict[str, dict[str, Any]]:
        """The rows of `results list`, by suite."""
        rows = json.loads(self.call("results", "list", "--json", *options).stdout)
        return {row["suite"]: row for row in rows}

    def lines(self, suite: str) -> Path:
        return self.results / f"runs/m/{suite}.jsonl"

    def manifest(self, suite: str) -> Path:
        return self.results / f"runs/m/{suite}.manifest.json"

    def records(self, suite: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines(suite).read_text().splitlines()]

    def write(self, suite: str, records: Iterable[dict[str, Any]]) -> None:
        self.lines(suite).write_text("".join(json.dumps(record) + "\n" for record in records))

    def edit(self, suite: str, /, **fields: object) -> None:
        """Changes fields of a suite's first line."""
        first, *rest = self.records(suite)
        self.write(suite, [first | fields, *rest])

    def edit_manifest(self, suite: str, /, **fields: object) -> None:
        """Changes fields of a suite's manifest."""
        path = self.manifest(suite)
        path.write_text(json.dumps(json.loads(path.read_text()) | fields))

    def play(self, transcript: str) -> None:
        """Does the steps of a transcript in this folder, and compares what each of them says.

        A step is a line `> edit SUITE FIELDS` or `> edit_manifest SUITE FIELDS`, as the methods of that name,
        `> ` and any other line of the shell, or `CODE $ ` and a command of triathlon. Texts that it prints
        follow, one a line, and behind `!` those that it does not; how the output is broken into lines is not
        compared. No command changes a line of results that is there, or takes one away, but to the archive.
        """
        for step in re.split(r"\n(?=> |\d \$ )", transcript.strip()):
            line, *texts = step.split("\n")
            said = " ".join(self._step(line).split())
            for text in texts:
                assert (text.removeprefix("!") in said) is not text.startswith("!"), f"{line}: {text}: {said}"

    def _step(self, line: str) -> str:
        begin, command = line[:2], line[2:]
        if begin != "> ":
            before = {path: path.read_bytes() for path in self.results.rglob("*.jsonl") if path.is_file()}
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("COLUMNS", "200")  # messages of wrong options have a frame
                code, said = self.says(*shlex.split(command.removeprefix("$ ")))
            for path, content in before.items() if "archive" not in command else ():
                torn = path.with_suffix(".jsonl.torn")  # what was cut is moved there
                left = path.read_bytes() + (torn.read_bytes() if torn.exists() else b"")
                assert left.startswith(content), f"{line} changed {path}: {said}"
            assert (f"{code} ", "Traceback" in said) == (begin, False), f"{line}: {said}"
            return said
        if command.startswith("edit"):
            edit, suite, fields = command.split(" ", 2)
            getattr(self, edit)(suite, **json.loads(fields))
            return ""
        shell = ["bash", "-c", command]
        return subprocess.run(shell, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def link(self, path: Path) -> None:
        path.rename(self.root / "elsewhere")
        path.symlink_to(self.root / "elsewhere")


def transcripts(path: Path) -> list[ParameterSet]:
    """A parameter for each transcript of a file, for `play`; those whose heading ends in (slow) are slow."""
    slow = pytest.mark.slow
    return [
        pytest.param(steps, id=rule, marks=slow if rule.endswith("(slow)") else ())
        for rule, steps in sections(path).items()
    ]


def made(root: Path) -> SmallRun:
    """Runs two tasks of a suite of each discipline."""
    small = SmallRun(root)
    with model_server_process("support.core_model:answer") as url:
        (root / "models.yaml").write_text(ROWS.format(url=url))
        (root / "first.txt").write_text(small.expect(RUN, 0))
    return small


COMMAND = (sys.executable, "-m", "triathlon_site")


async def started(
    root: Path, *arguments: str, command: Sequence[str] = COMMAND, **options: Any
) -> asyncio.subprocess.Process:
    """Starts `triathlon` in a process of its own, whose output can be read; `options` are the process's."""
    return await asyncio.create_subprocess_exec(
        *(*command, *arguments),
        cwd=root,
        env={**os.environ, "TRIATHLON_CACHE": str(root / "cache"), "SMALL_RUN_KEY": KEY},
        **{"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.STDOUT, **options},
    )
