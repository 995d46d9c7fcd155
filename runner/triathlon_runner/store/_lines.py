"""Reading and writing lines of results so that a line is complete or not there, and their faults in words."""

import os
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import in_words, parse_json
from triathlon_runner.records import SCHEMA_VERSION, Outcome, ProtocolHashes, UnitRecord, Usage
from triathlon_runner.terminal import counted, first_of, shortened

Unit = tuple[str, int]
"""(task_id, sample): what one line of a file stands for."""
R = TypeVar("R", bound=UnitRecord)
RUN_AGAIN: Final = (
    "delete the line, and the next run makes its unit again: replies in the cache are graded again, without"
    " asking the model (to have it asked, `triathlon cache prune --model MODEL` first)"
)
"""What to do about a line that cannot be used."""
MAKE_MISSING: Final = "`triathlon run`, or `import` of an imported log, makes what is missing"
"""What to do about lines that were lost."""
_SHOWN: Final = 60
"""Characters of a damaged line that its error shows."""
_NAMED: Final = 5
"""Further lines with a fault that are named; others are counted."""


class DamagedLineError(UserError):
    """A line of a results file that is no record, or that stands for a unit that another line has already."""


class ContradictingLineError(DamagedLineError):
    """A line that is a record whose outcome or numbers contradict its own evidence."""


class _Answer(BaseModel):
    outcome: Outcome


class _Statement(BaseModel):
    coverage: _Answer
    state: _Answer
    path: _Answer


class Ended(UnitRecord):
    """How a unit of any discipline ended: its outcome, and what else its scores count."""

    model_config = ConfigDict(extra="ignore")
    sustained_loops: int | None = None
    similarity: float | None = None
    statements: tuple[_Statement, ...] = ()
    output: _Answer | None = None

    def __str__(self) -> str:
        """Returns `failed after 3 loops`, or `failed (wrong: answer 2, 5 of 7)`, or the outcome."""
        ended = self.outcome.value
        if self.sustained_loops is not None:
            ended += f" after {counted(self.sustained_loops, 'loop')}"
        if self.similarity is not None:
            ended += f", similarity {self.similarity:g}"
        if self.output is not None:
            answers = [each for one in self.statements for each in (one.coverage, one.state, one.path)]
            answers.append(self.output)
            wrong = [str(n) for n, answer in enumerate(answers, 1) if answer.outcome is not Outcome.PASSED]
            ended += f" (wrong: answer {', '.join(wrong)} of {len(answers)})" if wrong else ""
        return ended


def read_lines(
    path: Path, parse: Callable[[bytes], R], remedy: str = RUN_AGAIN
) -> Iterator[tuple[int, int, R | str]]:
    """Yields number and size of each line, and its record or what is wrong with it and the remedy.

    A torn last line is skipped, no file has no lines; `parse` raises ValueError for a line that is no record.
    """
    if not path.exists():
        return
    first_lines: dict[Unit, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                record = parse(line.removeprefix(BOM_UTF8))  # as some editors write one
            except ValueError as error:
                yield number, len(line), _fault_of_line(line, error, remedy)
                continue
            first = first_lines.setdefault((record.task_id, record.sample), number)
            if first == number:
                yield number, len(line), record
                continue
            unit = f"{record.task_id!r}, sample {record.sample}: the other is line {first}"
            fault = f"expected one line of each unit, got a second of {unit}; delete one of them"
            yield number, len(line), fault


def read_records(path: Path, record: type[R]) -> Iterator[R]:
    """Yields the records of one file, in its order; a torn last line is skipped, no file has no lines."""
    for number, _, parsed in read_lines(path, record.model_validate_json):
        if isinstance(parsed, str):
            raise DamagedLineError(f"{path}, line {number}: {parsed}")
        yield parsed


def read_undamaged_records(
    path: Path, record: type[R], fault_of: Callable[[R], str] = lambda _record: ""
) -> tuple[list[R], dict[int, str]]:
    """Returns the records of one file and, by line number, what is wrong with each line that is none.

    A record in which `fault_of` finds a fault is none; left out, an altered outcome is no fault. A torn last
    line is skipped; no file has no lines.
    """
    records: list[R] = []
    faults: dict[int, str] = {}
    for number, _, parsed in read_lines(path, record.model_validate_json):
        if isinstance(parsed, str):
            faults[number] = parsed
        elif fault := fault_of(parsed):
            faults[number] = fault
        else:
            records.append(parsed)
    return records, faults


def validation_fault(error: ValidationError) -> str:
    """Returns the first fault of a file or line, in words: the field, what is wrong with it, what came."""
    fault = error.errors(include_url=False)[0]
    message, got = in_words(fault), fault["input"]
    if fault["type"] == "enum" or isinstance(got, int | float):
        message += f", got {str(got)[:_SHOWN]!r}" if isinstance(got, str) else f", got {str(got)[:20]}"
    return f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {message}"


def _fault_of_line(line: bytes, error: ValueError, remedy: str) -> str:
    """Returns what is wrong with a line that is no record, with its beginning and the remedy."""
    got = shortened(line.decode(errors="replace").strip(), _SHOWN)
    try:
        document = parse_json(line)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        return f"expected a JSON object, got {got!r}; {remedy}"
    schema = document.get("schema", SCHEMA_VERSION)
    if schema != SCHEMA_VERSION:
        expected = f"expected schema {SCHEMA_VERSION}, got {schema!r}"
        return f"{expected}: another version wrote it; update the program"
    why = validation_fault(error) if isinstance(error, ValidationError) else str(error)
    return f"expected a record of one unit, got {got!r} ({why}); {remedy}"


def count_lines(path: Path) -> tuple[int, bool]:
    """Returns how many whole lines a file has, and whether a torn one follows; (0, False) without a file."""
    count, last = 0, b"\n"
    if path.exists():
        with path.open("rb") as lines:
            for last in lines:
                count += last.endswith(b"\n")
    return count, not last.endswith(b"\n")


def set_torn_line_aside(path: Path) -> Path | None:
    """Moves a last line without newline (a power cut) to `<file>.torn`; returns that path, else None."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        start = sum(len(line) for line in file if line.endswith(b"\n"))
        file.seek(start)
        torn_line = file.read()
    if not torn_line:
        return None
    torn = path.with_name(path.name + ".torn")
    with torn.open("ab") as torn_file:
        torn_file.write(torn_line + b"\n")
        torn_file.flush()
        os.fsync(torn_file.fileno())
    os.truncate(path, start)
    return torn


def append_line(path: Path, line: bytes) -> None:
    """Adds a line to a file, which is made where there is none: all of it, or nothing.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        left, before = memoryview(line), os.fstat(file.fileno()).st_size
        try:
            while left:  # one call may write less than it is given
                left = left[os.write(file.fileno(), left) :]
        except OSError:
            os.ftruncate(file.fileno(), before)
            raise


def is_stream(path: Path) -> bool:
    """Whether it is written into as text comes, and never replaced: a pipe, or what stands in /dev."""
    path = path.absolute()
    return path.is_fifo() or (path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm"))  # noqa: S108


def replace_file(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all.

    A pipe, and what stands in /dev (such as /dev/stdout), is written into and never replaced.
    """
    encoded = content.encode() if isinstance(content, str) else content
    draft = path.parent / f".{path.name}.{os.getpid()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_stream(path):
            with path.open("ab") as file:
                file.write(encoded)
            return
        with draft.open("wb") as file:
            file.write(encoded)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):  # as where the folder is a file
            draft.unlink()
        raise UserError(
            f"cannot write {str(path)!r} ({error.strerror}); make room or make it writable and run again,"
            " nothing is lost"
        ) from None


class ResultsFile(Generic[R]):
    """The lines of one model and suite.

    A line is complete or missing: opening the file moves a torn last line to `<suite>.jsonl.torn`, and a
    message about that goes to `say`.
    Its units alone are held in memory; `sort` reads all lines. The file is closed between two lines, so that
    a hundred models with twenty suites each need no descriptors.
    """

    def __init__(self, path: Path, record: type[R], say: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        self._record, self._say = record, say
        self._opened = False
        self._forget()

    def _forget(self) -> None:
        self.units: dict[Unit, None] = {}
        """The units of the file, in its order."""
        self.size = 0
        """Bytes."""
        self.outcomes: Counter[str] = Counter()
        self.protocols: set[ProtocolHashes] = set()
        self.models_and_suites: set[tuple[str, str]] = set()
        """(model, suite) pairs in the lines."""
        self._usage: Counter[str] = Counter()

    def __enter__(self) -> Self:
        try:
            if torn := set_torn_line_aside(self.path):
                self._say(
                    f"{str(self.path)!r} ended in half a line, as after a power cut: moved to {str(torn)!r};"
                    " its unit is asked again"
                )
            self.scan()
            self._opened = True
        except OSError as error:
            raise self._not_writable(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened and self.units and self.path.exists():
            with self.path.open("rb") as file:
                os.fsync(file.fileno())
        self._opened = False

    def check_writable(self) -> None:
        """Checks that a line can be added, before money is spent; makes no file and no folder."""
        try:
            if self.path.exists():
                self.path.open("ab").close()
            else:
                folder = next(part for part in self.path.parents if part.exists())
                NamedTemporaryFile(prefix=self.path.name, dir=folder).close()  # a name may be too long, too
        except OSError as error:
            raise self._not_writable(error) from None

    def _not_writable(self, error: OSError) -> UserError:
        return UserError(
            f"cannot open {str(self.path)!r} for writing ({error.strerror}); make it writable or pass"
            " another --results"
        )

    def scan(self) -> None:
        """Counts the lines, without opening the file for writing; a torn last line is left out.

        Raises:
            DamagedLineError: a line has a fault; all others are counted.
        """
        faults: list[tuple[int, DamagedLineError]] = []
        for number, size, parsed in read_lines(self.path, self._record.model_validate_json):
            place = f"{self.path}, line {number}"
            if isinstance(parsed, str):
                faults.append((number, DamagedLineError(f"{place}: {parsed}")))
            elif fault := parsed.fault():
                message = f"{place}: {fault}; it does not count; {RUN_AGAIN}"
                faults.append((number, ContradictingLineError(message)))
            else:
                self._count(parsed, size)
        if faults:
            (_, error), *more = faults
            if more:
                lines = ", ".join(first_of([str(number) for number, _ in more], _NAMED))
                error = type(error)(f"{error}; {counted(len(more), 'further line')} with a fault: {lines}")
            raise error

    @property
    def usage(self) -> Usage:
        """Requests and tokens of all lines."""
        return Usage.of_sums(self._usage)

    def append(self, record: R) -> None:
        """Adds one finished unit."""
        assert self._opened, "append outside `with`"
        line = (record.model_dump_json(by_alias=True) + "\n").encode()
        try:
            append_line(self.path, line)
        except OSError as error:
            raise UserError(
                f"cannot append to {str(self.path)!r} ({error}); make room and run again, nothing is lost"
            ) from None
        self._count(record, len(line))

    def sort(self, order: Sequence[Unit]) -> None:
        """Puts the lines into the suite's order, so that the same replies give the same bytes.

        A file that something else changed meanwhile (`git checkout`) is read again first.

        Raises:
            UserError: it cannot be written, or a line has a fault now.
        """
        if not self.path.exists() or self.path.stat().st_size != self.size:
            self._forget()
            self.scan()
        place = {unit: number for number, unit in enumerate(order)}
        in_order = sorted(self.units, key=lambda unit: (place.get(unit, len(place)), unit))
        if in_order != list(self.units):
            with self.path.open("rb") as file:
                lines = dict(zip(self.units, file, strict=False))  # a torn last line is no unit's
            replace_file(self.path, b"".join(lines[unit] for unit in in_order))
            self.units = dict.fromkeys(in_order)

    def _count(self, record: UnitRecord, size: int) -> None:
        self.units[record.task_id, record.sample] = None
        self.size += size
        self.outcomes[record.outcome.value] += 1
        self.protocols.add(record.protocol)
        self.models_and_suites.add((record.model, record.suite))
        self._usage.update(dict(record.usage))
