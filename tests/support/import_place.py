"""A folder into which tests import other people's logs; logs as those programs write them."""

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.small_run import SmallRun
from triathlon_runner.datasets import core
from triathlon_runner.records import EvolvedRecord, Manifest, Outcome
from triathlon_runner.store import RecordedFile, read_records

CHECKOUT = Path(__file__).resolve().parents[2]
SUITE = "evolved/core-seeds"
PROBLEMS = core.problems("seeds")[:3]
FIRST, SECOND, THIRD = PROBLEMS
WRONG = f"def {FIRST.entry_point}(*arguments):\n    return None\n"
GOOD = {"task_id": FIRST.task_id, "solution": FIRST.reference}


@dataclass(frozen=True)
class ImportPlace(SmallRun):
    """Commands in one folder, and what they wrote there."""

    def bring(self, form: str, log: Path, *options: str, code: int = 0) -> str:
        """Imports a log; returns all that the command says, an error included, in one line."""
        result = self.call("import", form, str(log), *options)
        assert result.exit_code == code, result.output
        return " ".join(f"{result.output} {result.exception or ''}".split())

    def imported(self, model: str, suite: str = SUITE) -> Path:
        return self.results / f"imported/runs/{model}/{suite}.jsonl"

    def outcomes(self, model: str) -> list[Outcome]:
        return [record.outcome for record in read_records(self.imported(model), EvolvedRecord)]

    def origin(self, model: str) -> dict[str, str]:
        manifest = self.imported(model).with_suffix(".manifest.json").read_bytes()
        return Manifest.model_validate_json(manifest).origin or {}

    def recorded(
        self, model: str, suite: str = "loop/core", source: str = "evalooop"
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The lines of a recorded file, and its receipt."""
        file = RecordedFile(self.results, source, model, suite)
        lines = [json.loads(line) for line in file.lines.read_text().splitlines()]
        return lines, json.loads(file.manifest.read_bytes())["receipt"]

    def make_recorded(self, logs: Path) -> None:
        """Files all recordings of a folder, as `make recorded` does."""
        done = subprocess.run(
            [
                *("make", "-C", str(CHECKOUT), "-o", "setup", "recorded", f"DIR={logs}"),
                *(f"BIN={Path(sys.executable).parent}", f"RECORDED_OPTIONS=--results {self.results}"),
            ],
            env={**os.environ, "TRIATHLON_CACHE": str(self.root / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_json(path: Path, content: object) -> Path:
    """A JSON document, packed where the name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(content).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def evaloop_task(task_id: str, *programs: str) -> dict[str, Any]:
    """A task of EVALOOOP's pages, with these programs in its loops."""
    summary = '"""\nWrite it.\nassert f(1) == 1\n"""\n'
    cycles = [{"code_output": program, "summary_output": summary} for program in programs]
    return {"task_id": task_id, "initial_prompt": '"""\nX\nassert f(1) == 1\n"""', "cycles": cycles}


def said(content: object) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}}]}


def inspect_sample(task: str | int, program: str = FIRST.reference, **more: Any) -> dict[str, Any]:
    reply = f"Sure!\n```python\n{program}\n```\nDone."
    return {"id": task, "input": [{"role": "user", "content": FIRST.prompt}], "output": said(reply), **more}
