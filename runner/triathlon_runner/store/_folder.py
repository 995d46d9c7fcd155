"""The results folder: where the lines of each model and suite lie, and who may write them."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.records import Manifest
from triathlon_runner.store._lines import Unit, replace_file

IMPORTED: Final = "imported"
"""Folder inside the results folder; below it everything lies as in the results folder itself."""


class ResultsFolder:
    """`results/`: where the lines of each model and suite lie."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def lines(self, model: str, suite: str) -> Path:
        return self.root / "runs" / model / f"{suite}.jsonl"

    def manifest(self, model: str, suite: str) -> Path:
        return self.root / "runs" / model / f"{suite}.manifest.json"

    def skipped(self, model: str) -> Path:
        """Why the model could not run here, if it could not: one sentence."""
        return self.root / "runs" / model / "skipped.txt"

    def check_writable(self) -> None:
        """Fails before any money is spent.

        Raises:
            UserError: the folder cannot be made or written.
        """
        probe = self.root / "runs" / f".probe-{os.getpid()}"
        try:
            probe.parent.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise UserError(
                f"cannot write to the results folder {str(self.root)!r} ({error.strerror}); pass --results"
            ) from None

    @contextmanager
    def locked(self, model: str) -> Iterator[None]:
        """Keeps a second runner from the files of this model.

        Raises:
            UserError: another runner holds them.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415  few commands lock

        path = self.root / ".locks" / f"{model}.lock"
        lock = FileLock(path, blocking=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise UserError(
                f"another triathlon run is writing the results of {model!r} in {str(self.root)!r};"
                " wait for it or pass another --results"
            ) from None
        except OSError as error:
            raise UserError(
                f"cannot lock {str(path)!r} ({error.strerror}); make it writable or pass --results"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def units(self, model: str, suite: str) -> set[Unit]:
        """The units that stand in a results file, without parsing the rest of their lines."""
        path = self.lines(model, suite)
        if not path.exists():
            return set()
        with path.open("rb") as lines:
            return {_unit_of(line) for line in lines if line.endswith(b"\n")}

    def size(self, model: str, suite: str) -> int:
        """Bytes of a results file; 0 where there is none."""
        try:
            return self.lines(model, suite).stat().st_size
        except FileNotFoundError:
            return 0

    def manifests(self) -> Iterator[Manifest]:
        """Every manifest that can be read."""
        for model, suite in self.files():
            if (manifest := self.read_manifest(model, suite)) is not None:
                yield manifest

    def files(self) -> Iterator[tuple[str, str]]:
        """(model, suite) of every results file, in order."""
        runs = self.root / "runs"
        for path in sorted(runs.glob("*/**/*.jsonl")):
            model, *suite = path.relative_to(runs).with_suffix("").parts
            yield model, "/".join(suite)

    def write_manifest(self, manifest: Manifest) -> None:
        replace_file(
            self.manifest(manifest.model, manifest.suite),
            json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n",
        )

    def read_manifest(self, model: str, suite: str) -> Manifest | None:
        """The manifest beside a results file; None where there is none that can be read."""
        try:
            return Manifest.model_validate_json(self.manifest(model, suite).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None


_HEAD = re.compile(rb'.*?"task_id":("(?:[^"\\]|\\.)*"),"sample":(\d+),')


def _unit_of(line: bytes) -> Unit:
    """The unit that a line stands for: records begin with what tells them apart."""
    head = _HEAD.match(line, 0, 4096)
    if head is None:
        whole = json.loads(line)
        return whole["task_id"], whole["sample"]
    return json.loads(head[1]), int(head[2])
