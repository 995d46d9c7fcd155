"""A small run by the command itself, of a scripted model that knows our problems."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import triathlon_site.reproduce_command  # adds its command, and those of the site
from support.case_files import sections
from support.model_server import model_server_process
from triathlon_runner.cli import add_commands, app
from triathlon_runner.errors import UserError, leaves

add_commands()
assert triathlon_site.reproduce_command

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
TIMES = {"seconds", "started", "ended", "tokens_per_second", "bytes"}
"""Fields that differ between equal runs; the length of a file is that of its seconds, too."""


@dataclass(frozen=True)
class SmallRun:
    """A folder with models.yaml, results and cache."""

    root: Path

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def log(self) -> Path:
        return self.root / "requests.jsonl"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What its server was asked."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line)["body"] for line in lines]

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
        """What a command says, which ends with this exit code; of texts that begin with `!` it has none.

        How the output is broken into lines is not compared.
        """
        ended, said = self.says(*shlex.split(line))
        assert ended == code, said
        _compare(said, texts, line)
        return said

    def json(self, line: str, code: int = 0) -> Any:
        """What a command prints as JSON, which ends with this exit code."""
        result = self.call(*shlex.split(line), "--json")
        assert result.exit_code == code, f"{result.output}{result.exception}"
        return json.loads(result.stdout)

    def listed(self) -> dict[str, dict[str, Any]]:
        """The rows of `results list`, by suite."""
        return {row["suite"]: row for row in self.json("results list")}

    def lines(self, suite: str, model: str = "m") -> Path:
        return self.results / f"runs/{model}/{suite}.jsonl"

    def manifest(self, suite: str, model: str = "m") -> Path:
        return self.results / f"runs/{model}/{suite}.manifest.json"

    def facts(self, suite: str, model: str = "m") -> dict[str, Any]:
        """What a manifest says."""
        found: dict[str, Any] = json.loads(self.manifest(suite, model).read_text())
        return found

    def records(self, suite: str, model: str = "m") -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines(suite, model).read_text().splitlines()]

    def timeless(self, *left_out: str) -> dict[str, list[Any]]:
        """The lines of each file of results, without fields that tell the time, and these."""

        def without_times(fields: dict[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in fields.items() if name not in TIMES.union(left_out)}

        found = {}
        for path in sorted((self.results / "runs").rglob("*.json*")):
            lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
            found[str(path.relative_to(self.results))] = [
                json.loads(line, object_hook=without_times) for line in lines
            ]
        return found

    def write(self, suite: str, records: Iterable[dict[str, Any]]) -> None:
        self.lines(suite).write_text("".join(json.dumps(record) + "\n" for record in records))

    def edit(self, suite: str, /, **fields: object) -> None:
        """Changes fields of a suite's first line."""
        first, *rest = self.records(suite)
        self.write(suite, [first | fields, *rest])

    def edit_manifest(self, suite: str, /, **fields: object) -> None:
        """Changes fields of a suite's manifest."""
        self.manifest(suite).write_text(json.dumps(self.facts(suite) | fields))

    def play(self, transcript: str) -> None:
        """Does the steps of a transcript in this folder, and compares what each of them says.

        A step is a line `> edit SUITE FIELDS` or `> edit_manifest SUITE FIELDS`, as the methods of that name,
        `> ` and any other line of the shell, or `CODE $ ` and a command of triathlon. Texts that it prints
        follow, one a line, and behind `!` those that it does not; how the output is broken into lines is not
        compared. No command changes a line of results that is there, or takes one away, but to the archive.
        """
        for step in re.split(r"\n(?=> |\d \$ )", transcript.strip()):
            line, *texts = step.split("\n")
            _compare(self._step(line), texts, line)

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
        path.symlink_to(path.rename(self.root / "elsewhere"))


def _compare(said: str, texts: Iterable[str], line: str) -> None:
    shown = " ".join(said.split())
    for text in texts:
        assert (text.removeprefix("!") in shown) is not text.startswith("!"), f"{line}: {text}: {shown}"


def transcripts(path: Path) -> pytest.MarkDecorator:
    """Gives a test the `steps` of each transcript of a file, for `play`; a heading may end in (slow)."""
    cases = [
        pytest.param(steps, id=rule, marks=pytest.mark.slow if rule.endswith("(slow)") else ())
        for rule, steps in sections(path).items()
    ]
    return pytest.mark.parametrize("steps", cases)


@contextmanager
def served(
    root: Path, script: str = "support.core_model:answer", rows: str = ROWS, latency: float = 0.0
) -> Iterator[SmallRun]:
    """A folder whose models are behind a server of their own while the block runs."""
    small = SmallRun(root)
    with model_server_process(script, "--log", str(small.log), "--latency", str(latency)) as url:
        (root / "models.yaml").write_text(rows.format(url=url))
        yield small


def made(root: Path) -> SmallRun:
    """Runs two tasks of a suite of each discipline."""
    with served(root) as small:
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
