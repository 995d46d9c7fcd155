"""The results folder: one JSONL file a model and suite, appended line by line, resumed by default."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.records import Manifest, UnitRecord

Unit = tuple[str, int]
"""(task_id, sample): what one line of a file stands for."""

R = TypeVar("R", bound=UnitRecord)


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
        path = self.root / ".locks" / f"{model}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, blocking=False)
        try:
            lock.acquire()
        except Timeout:
            raise UserError(
                f"another triathlon run is writing the results of {model!r} in {str(self.root)!r};"
                " wait for it or pass another --results"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def units(self, model: str, suite: str) -> set[Unit]:
        """The units that stand in a results file, without reading the rest of their lines."""
        path = self.lines(model, suite)
        if not path.exists():
            return set()
        with path.open("rb") as lines:
            heads = (json.loads(line) for line in lines if line.endswith(b"\n"))
            return {(head["task_id"], head["sample"]) for head in heads}

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


class ResultsFile(Generic[R]):
    """The lines of one model and suite, open for appending.

    A line is complete or not there: opening the file moves a torn last line to `<suite>.jsonl.torn`.
    """

    def __init__(self, path: Path, record: type[R]) -> None:
        self.path = path
        self._record = record
        self._descriptor: int | None = None
        self.records: dict[Unit, R] = {}

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        set_torn_line_aside(self.path)
        self.records = {(r.task_id, r.sample): r for r in read_records(self.path, self._record)}
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def append(self, record: R) -> None:
        """Adds one finished unit.

        Raises:
            UserError: the disk is full or the file cannot be written; what was there stays whole.
        """
        assert self._descriptor is not None, "append outside `with`"
        line = (record.model_dump_json(by_alias=True) + "\n").encode()
        before = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):
                raise OSError("the disk is full")
        except OSError as error:
            os.ftruncate(self._descriptor, before)
            raise UserError(
                f"cannot append to {str(self.path)!r} ({error}); make room and run again, nothing is lost"
            ) from None
        self.records[record.task_id, record.sample] = record

    def sort(self, order: Sequence[Unit]) -> None:
        """Puts the lines into the suite's order, so that the same replies give the same bytes."""
        rank = {unit: position for position, unit in enumerate(order)}
        wanted = sorted(self.records, key=lambda unit: (rank.get(unit, len(rank)), unit))
        if wanted == list(self.records):
            return
        self.records = {unit: self.records[unit] for unit in wanted}
        replace_file(
            self.path, "".join(r.model_dump_json(by_alias=True) + "\n" for r in self.records.values())
        )
        self.__exit__(None, None, None)
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)


def read_records(path: Path, record: type[R]) -> Iterator[R]:
    """The records of one file, in its order; none where there is no file.

    Raises:
        UserError: a line that is no record, or a unit that stands twice; names file and line.
    """
    if not path.exists():
        return
    seen: dict[Unit, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                parsed = record.model_validate_json(line)
            except ValidationError as error:
                fault = error.errors()[0]
                where = ".".join(str(part) for part in fault["loc"]) or "the line"
                raise UserError(
                    f"{path}, line {number}: {where}: {fault['msg']}, got {line[:80]!r};"
                    " mend the line or move the file away"
                ) from None
            unit = (parsed.task_id, parsed.sample)
            if unit in seen:
                raise UserError(
                    f"{path}: {unit!r} stands in line {seen[unit]} and in line {number}; keep one"
                )
            seen[unit] = number
            yield parsed


def set_torn_line_aside(path: Path) -> bytes:
    """Moves a last line without its newline (a power cut) to `<file>.torn`; returns what was moved."""
    if not path.exists():
        return b""
    with path.open("r+b") as file:
        content_end = file.seek(0, os.SEEK_END)
        start = _start_of_last_line(path)
        if start == content_end:
            return b""
        file.seek(start)
        torn = file.read()
        with path.with_name(path.name + ".torn").open("ab") as aside:
            aside.write(torn + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        file.truncate(start)
    return torn


def _start_of_last_line(path: Path, block: int = 1 << 16) -> int:
    """Offset behind the last newline of a file."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(0, end - block)
            file.seek(begin)
            newline = file.read(end - begin).rfind(b"\n")
            if newline >= 0:
                return begin + newline + 1
            end = begin
    return 0


def replace_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
