"""How an aggregate lies in the cache: what is always needed as one small file, the single tasks as another.

A build of a hundred models opens thousands of them, so both are read without building an object a number.
"""

import json
import os
import zlib
from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from triathlon_runner.records import Manifest, Strict, Usage
from triathlon_site.load._aggregate import Extracts, FileAggregate, Notice, Parts
from triathlon_site.load._tasks import TaskColumns, Tasks

AGGREGATE: Final = "aggregate"
TASKS: Final = "tasks.json"


class _Header(Strict, ser_json_inf_nan="constants"):
    """The second line of an aggregate; after it a line for each list of clusters, then the sums, as eight
    bytes each.
    """

    model: str
    suite: str
    file: str
    sha256: str
    protocol: str
    manifest: Manifest | None
    tasks: int
    outcomes: dict[str, int]
    usage: Usage
    seconds: float
    other_protocols: int
    lists: int
    """How many different lists of clusters there are; most metrics share one."""
    metrics: dict[str, int]
    """Which list of clusters a metric has. In this order their numerators, then denominators follow."""
    repeats: dict[str, tuple[float, ...]]
    notices: tuple[Notice, ...]
    sizes: dict[str, int]
    """Bytes of each file beside it: one that the disk lost half of is noticed."""


class StoredTasks(Tasks):
    """The tasks of one file, read when somebody looks at them."""

    __slots__ = ("_count", "_path")

    def __init__(self, path: str, count: int) -> None:
        self._path, self._count = path, count

    @property
    def columns(self) -> TaskColumns:
        return _read_columns(self._path)

    def __len__(self) -> int:
        return self._count


@lru_cache(maxsize=40)
def _read_columns(path: str) -> TaskColumns:
    """Kept for the next look; a page of one model looks at all its suites, a suite's at all its models."""
    task_ids, samples, outcomes, parents = Path(path).read_bytes().splitlines()
    return TaskColumns(_list(task_ids), _list(samples), json.loads(outcomes), _lists(parents))


@lru_cache(maxsize=512)
def _list(line: bytes) -> tuple[Any, ...]:
    """One for all models of a suite instead of one each: most have the same tasks."""
    return tuple(json.loads(line))


@lru_cache(maxsize=512)
def _lists(line: bytes) -> tuple[tuple[str, ...], ...]:
    """As `_list`, of lists."""
    return tuple(map(tuple, json.loads(line)))


def store(folder: str, value: FileAggregate, extracts: Mapping[str, str]) -> None:
    """Extracts first, sums last: an aggregate that is there has all that belongs to it.

    Nothing is forced to the disk. What a power cut leaves of a file is noticed by its size, and read anew.
    """
    os.makedirs(folder, exist_ok=True)
    contents = {name: text.encode() for name, text in extracts.items()}
    contents[TASKS] = b"\n".join(map(_line, value.tasks.columns))
    for name, content in contents.items():
        _write(folder, name, content)
    _write(folder, AGGREGATE, _packed(value, {name: len(content) for name, content in contents.items()}))


def _write(folder: str, name: str, content: bytes) -> None:
    """Under another name first: a site may hold a second name of the file that is there."""
    draft = f"{folder}/.{name}.{os.getpid()}"
    Path(draft).write_bytes(content)
    os.replace(draft, f"{folder}/{name}")


def _packed(value: FileAggregate, sizes: dict[str, int]) -> bytes:
    lists = list(dict.fromkeys(parts.clusters for parts in value.metrics.values()))
    place = {clusters: number for number, clusters in enumerate(lists)}
    header = _Header(
        model=value.model,
        suite=value.suite,
        file=value.file,
        sha256=value.sha256,
        protocol=value.protocol,
        manifest=value.manifest,
        tasks=len(value.tasks),
        outcomes=value.outcomes,
        usage=value.usage,
        seconds=value.seconds,
        other_protocols=value.other_protocols,
        lists=len(lists),
        metrics={name: place[parts.clusters] for name, parts in value.metrics.items()},
        repeats=value.repeats,
        notices=value.notices,
        sizes=sizes,
    )
    sums = [side for parts in value.metrics.values() for side in (parts.numerators, parts.denominators)]
    numbers = b"".join(array("d", side).tobytes() for side in sums)
    lines = [header.model_dump_json(by_alias=True).encode(), *map(_line, lists), numbers]
    content = b"\n".join(lines)
    return _checksum(content) + content


def _line(values: Sequence[object]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()


def _checksum(content: bytes) -> bytes:
    """A line before the rest: one flipped bit in a sum would be a wrong score that looks like any other."""
    return b"%08x\n" % zlib.crc32(content)


def load(folder: str) -> FileAggregate:
    """What `store` wrote.

    Raises:
        OSError: it is not there.
        ValueError: it is not whole, or of another version.
    """
    first, _, content = Path(folder, AGGREGATE).read_bytes().partition(b"\n")
    if _checksum(content) != first + b"\n":
        raise ValueError("its checksum is another")
    line, _, body = content.partition(b"\n")
    header = _Header.model_validate_json(line)
    found = {entry.name: entry.stat().st_size for entry in os.scandir(folder)}
    if torn := [name for name, size in header.sizes.items() if found.get(name) != size]:
        raise ValueError(f"{torn} are not whole")
    return FileAggregate(
        model=header.model,
        suite=header.suite,
        file=header.file,
        sha256=header.sha256,
        protocol=header.protocol,
        manifest=header.manifest,
        tasks=StoredTasks(f"{folder}/{TASKS}", header.tasks),
        outcomes=header.outcomes,
        usage=header.usage,
        seconds=header.seconds,
        other_protocols=header.other_protocols,
        metrics=_unpacked(header, body),
        repeats=header.repeats,
        notices=header.notices,
        extracts=Extracts(folder, tuple(name for name in header.sizes if name != TASKS)),
    )


def _unpacked(header: _Header, content: bytes) -> dict[str, Parts]:
    *lines, body = content.split(b"\n", header.lists)
    lists = list(map(_list, lines))
    numbers = array("d", body)
    if len(numbers) != 2 * sum(len(lists[place]) for place in header.metrics.values()):
        raise ValueError("the sums are not whole")
    found: dict[str, Parts] = {}
    start = 0
    for name, place in header.metrics.items():
        middle, end = start + len(lists[place]), start + 2 * len(lists[place])
        found[name] = Parts(lists[place], numbers[start:middle], numbers[middle:end])
        start = end
    return found
