"""The results folder: where the lines of each model and suite lie, and who may write them."""

import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import why_not_plain
from triathlon_runner.json_text import parse_json
from triathlon_runner.records import SCHEMA_VERSION, Manifest
from triathlon_runner.store._faults import fault_of_manifest, validation_fault
from triathlon_runner.store._lines import Head, Unit, read_records, replace_file

DEFAULT_ROOT: Final = Path("results")
IMPORTED: Final = "imported"
"""Folder inside the results folder; below it everything lies as in the results folder itself."""

VERIFIED: Final = "verified.json"
"""In a model's folder: the statement that its results were graded again."""


class UnreadableManifestError(UserError):
    """A manifest that is damaged, or that a newer version wrote: the conditions of its lines are unknown."""


class ResultsFolder:
    """`results/`: where the lines of each model and suite lie."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def of_model(self, model: str) -> Path:
        """The folder of a model's results."""
        return self.root / "runs" / model

    def lines(self, model: str, suite: str) -> Path:
        return self.of_model(model) / f"{suite}.jsonl"

    def manifest(self, model: str, suite: str) -> Path:
        return self.of_model(model) / f"{suite}.manifest.json"

    def verified(self, model: str) -> Path:
        """The statement which of the model's files were graded again after they were handed in."""
        return self.of_model(model) / VERIFIED

    @property
    def option(self) -> str:
        """The option with which a command uses this folder: ` --results FOLDER`; empty for the default."""
        return "" if self.root == DEFAULT_ROOT else f" --results {shlex.quote(str(self.root))}"

    def archive_command(self, model: str, suite: str) -> str:
        """The command that archives the results of one model and suite."""
        return f"`triathlon results archive --models {model} --suites {suite}{self.option}`"

    def skipped(self, model: str) -> Path:
        """The file with the reason why the model could not run here."""
        return self.of_model(model) / "skipped.txt"

    def check_is_there(self) -> None:
        """Raises a UserError where there is no such folder."""
        if not self.root.is_dir():
            raise UserError(
                f"expected a folder of results at {str(self.root)!r}, there is none;"
                " run `triathlon run` first or name another with --results"
            )

    def check_writable(self) -> None:
        """Checks that the folder can be written, before money is spent.

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
        """Locks the files of this model against a second runner.

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
        """Returns the units of a results file.

        Raises:
            DamagedLineError: a line that is no record; names file and line.
        """
        return {(head.task_id, head.sample) for head in read_records(self.lines(model, suite), Head)}

    def remove_empty_folders(self, model: str, suite: str) -> None:
        """Removes the folders of a model's suite, and of the model, where they are empty."""
        for folder in self.lines(model, suite).parents:
            if folder == self.root / "runs":
                return
            try:
                folder.rmdir()
            except OSError:  # it is not empty
                return

    def changed_since_manifest(self, model: str, suite: str) -> bool:
        """Whether a results file was written after its manifest, which a run always writes last."""
        try:
            lines, manifest = (path(model, suite).stat() for path in (self.lines, self.manifest))
        except FileNotFoundError:
            return True
        return lines.st_mtime_ns > manifest.st_mtime_ns

    def size(self, model: str, suite: str) -> int:
        """Bytes of a results file; 0 where there is none."""
        try:
            return self.lines(model, suite).stat().st_size
        except FileNotFoundError:
            return 0

    def manifests(self) -> Iterator[Manifest]:
        """Yields every manifest that can be read."""
        for model, suite in self.files():
            with suppress(UnreadableManifestError):
                if (manifest := self.read_manifest(model, suite)) is not None:
                    yield manifest

    def files(self, *, skip_others: bool = False) -> Iterator[tuple[str, str]]:
        """Yields (model, suite) of every results file, in order.

        Raises:
            UserError: a link, folder or pipe has the name of one, and `skip_others` is not set.
        """
        runs = self.root / "runs"
        start = self.root.parent if self.root.name == IMPORTED else self.root
        for path in sorted(runs.glob("*/**/*.jsonl")):
            model, *suite = path.relative_to(runs).with_suffix("").parts
            why = why_not_plain(path, start) or ("" if path.is_file() else "a folder")
            if why and not skip_others:
                raise UserError(f"expected a plain file of results at {str(path)!r}, got {why}; move it away")
            if why:
                continue
            yield model, "/".join(suite)

    def write_manifest(self, manifest: Manifest) -> None:
        replace_file(
            self.manifest(manifest.model, manifest.suite),
            json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False) + "\n",
        )

    def read_manifest(self, model: str, suite: str) -> Manifest | None:
        """Returns the manifest of a results file; None where there is none.

        Raises:
            UnreadableManifestError: there is one that is damaged, or that a newer version wrote.
        """
        path = self.manifest(model, suite)
        found = manifest_or_fault(path, model, suite)
        if isinstance(found, str):
            raise UnreadableManifestError(
                f"the manifest {str(path)!r} cannot be used: {found}; the conditions of its lines are"
                " unknown. Update the program, mend the manifest, or put both files aside with"
                f" {self.archive_command(model, suite)}"
            )
        return found


def manifest_or_fault(path: Path, model: str, suite: str) -> Manifest | str | None:
    """Returns the manifest in a file, or why it cannot be used, in words; None where there is no file."""
    if not os.path.lexists(path):
        return None
    if path.is_symlink() or not path.is_file():  # a link leads anywhere, reading a pipe would wait for ever
        return "it is no plain file"
    try:
        content = path.read_bytes()
        version = _schema_of(content)
        if version != SCHEMA_VERSION:
            return f"it has schema {version!r}, this version of the program reads {SCHEMA_VERSION}"
        manifest = Manifest.model_validate_json(content)
        fault = fault_of_manifest(manifest, model, suite)
    except OSError as error:
        fault = f"it cannot be read ({error.strerror})"
    except ValidationError as error:
        fault = validation_fault(error)
    except ValueError as error:
        fault = f"it is no JSON object ({error})"
    return fault or manifest


def _schema_of(content: bytes) -> object:
    """Returns the schema that a manifest names; the current one where it names none."""
    manifest = parse_json(content)
    if not isinstance(manifest, dict):
        raise ValueError(f"got {str(manifest)[:40]!r}")
    return manifest.get("schema", manifest.get("schema_version", SCHEMA_VERSION))
