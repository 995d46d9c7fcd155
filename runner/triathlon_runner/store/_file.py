"""One results file, open for appending; its lines are not held in memory."""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Generic, Self

from triathlon_runner.errors import UserError
from triathlon_runner.records import ProtocolHashes, UnitRecord, Usage
from triathlon_runner.store._lines import (
    RUN_AGAIN,
    ContradictingLineError,
    DamagedLineError,
    R,
    Unit,
    parsed_lines,
    rewrite_file,
    set_torn_line_aside,
)
from triathlon_runner.terminal import counted, first_of

_NAMED: Final = 5
"""Further lines with a fault that are named; others are counted."""


class ResultsFile(Generic[R]):
    """The lines of one model and suite.

    A line is complete or missing: opening the file moves a torn last line to `<suite>.jsonl.torn`, and a
    message about that goes to `say`.
    Only the position of each line is held in memory, so that a run of any length needs little. The file is
    closed between two lines, so that a hundred models with twenty suites each need no descriptors.
    """

    def __init__(self, path: Path, record: type[R], say: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._record = record
        self._say = say
        self._opened = False
        self._forget()

    def _forget(self) -> None:
        self._positions: dict[Unit, tuple[int, int]] = {}
        self.size = 0
        """Bytes."""
        self.outcomes: Counter[str] = Counter()
        self.protocols: set[ProtocolHashes] = set()
        self.models_and_suites: set[tuple[str, str]] = set()
        """(model, suite) pairs in the lines."""
        self._usage: Counter[str] = Counter()

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            torn = set_torn_line_aside(self.path)
            if torn is not None and self._say is not None:
                self._say(
                    f"{str(self.path)!r} ended in half a line, as after a power cut: moved to {str(torn)!r};"
                    " its unit is asked again"
                )
            self.scan()
            os.close(self._for_appending())
            self._opened = True
        except OSError as error:
            raise UserError(
                f"cannot open {str(self.path)!r} for writing ({error.strerror}); make it writable or pass"
                " another --results"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened and self.path.exists():
            descriptor = self._for_appending()
            os.fsync(descriptor)
            os.close(descriptor)
        self._opened = False

    def _for_appending(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def scan(self) -> None:
        """Reads which units the file has, without opening it for writing; a torn last line is left out."""
        faults: list[tuple[int, DamagedLineError]] = []
        for number, line, parsed in parsed_lines(self.path, self._record):
            place = f"{self.path}, line {number}"
            if isinstance(parsed, str):
                faults.append((number, DamagedLineError(f"{place}: {parsed}")))
            elif fault := parsed.fault():
                message = f"{place}: {fault}; it does not count; {RUN_AGAIN}"
                faults.append((number, ContradictingLineError(message)))
            else:
                self._count(parsed, len(line))
        if not faults:
            return
        (_, error), *more = faults
        if more:
            lines = ", ".join(first_of([str(number) for number, _ in more], _NAMED))
            raise type(error)(f"{error}; {counted(len(more), 'further line')} with a fault: {lines}")
        raise error

    @property
    def units(self) -> Collection[Unit]:
        """The units of the file, in its order."""
        return self._positions.keys()

    @property
    def usage(self) -> Usage:
        """Requests and tokens of all lines."""
        return Usage(**self._usage)

    def restart(self) -> None:
        """Starts an empty file after the old one was archived."""
        self.__exit__(None, None, None)
        self._forget()
        self.__enter__()

    def remove(self) -> None:
        """Removes a file without lines."""
        assert not self._positions, "a file with lines is never removed"
        self.path.unlink(missing_ok=True)

    def append(self, record: R) -> None:
        """Adds one finished unit."""
        assert self._opened, "append outside `with`"
        line = (record.model_dump_json(by_alias=True) + "\n").encode()
        try:
            descriptor, left = self._for_appending(), memoryview(line)
            try:
                while left:  # one call may write less than it is given
                    left = left[os.write(descriptor, left) :]
            except OSError:
                os.ftruncate(descriptor, self.size)
                raise
            finally:
                os.close(descriptor)
        except OSError as error:
            raise UserError(
                f"cannot append to {str(self.path)!r} ({error}); make room and run again, nothing is lost"
            ) from None
        self._count(record, len(line))

    def sort(self, order: Sequence[Unit]) -> None:
        """Puts the lines into the suite's order, so that the same replies give the same bytes."""
        place = {unit: number for number, unit in enumerate(order)}
        units_in_order = sorted(self._positions, key=lambda unit: (place.get(unit, len(place)), unit))
        if units_in_order == list(self._positions):
            return
        sizes = {unit: self._positions[unit][1] for unit in units_in_order}
        starts = itertools.accumulate(sizes.values(), initial=0)
        with self.path.open("rb") as lines:

            def copy(file: IO[bytes]) -> None:
                for unit, size in sizes.items():
                    lines.seek(self._positions[unit][0])
                    file.write(lines.read(size))

            rewrite_file(self.path, copy)
        self._positions = {unit: (start, sizes[unit]) for unit, start in zip(sizes, starts, strict=False)}

    def _count(self, record: UnitRecord, size: int) -> None:
        self._positions[record.task_id, record.sample] = (self.size, size)
        self.size += size
        self.outcomes[record.outcome.value] += 1
        self.protocols.add(record.protocol)
        self.models_and_suites.add((record.model, record.suite))
        self._usage.update(dict(record.usage))
