"""Damaged results: one random change in a file never ends a command with a traceback, and loses no other."""

import copy
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.small_run import SmallRun, made
from triathlon_runner import catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.store import (
    ResultsFile,
    ResultsFolder,
    read_graded_again,
    read_undamaged_records,
    recorded_files,
)
from triathlon_site.build import gather

ROOT = Path(__file__).parents[1]
OTHER_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 5, 1.5, 1e308, float("nan"), float("inf"), 10**30, 2**53, [], {}, [None], [[]]),
    *("", "passed", "x" * 10_000, "\u0000", "../../up", "<b>", "\u202e", "2026-13-45", "0001-01-01", "NaN"),
    *({"a": 1}, [1, "a"], {"": {}}, "passed*999999999999", "3.11", "9" * 5000),
)
COMMANDS = (
    ("build", "--out", "_site"),
    ("scores", "--json"),
    ("results", "list", "--json"),
    ("verify",),
    *(("export", form, "--out", "exported") for form in ("every-eval-ever", "evalplus", "inspect")),
    ("submit", "check", "results/runs/m"),
)
RECORDED = ("evoeval-solutions/gpt-4/evolved/humaneval", "cruxeval/phi-1/runtime/cruxeval-output")
"""Of the project's own recorded results; a line is a sample, or a task."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Two units of a suite of each discipline, a statement about them, and recorded results."""
    small = made(tmp_path_factory.mktemp("mutated"))
    for name in RECORDED:
        (small.results / "recorded" / name).parent.mkdir(parents=True)
        for suffix in (".jsonl", ".manifest.json"):
            file = f"recorded/{name}{suffix}"
            shutil.copy(ROOT / "results" / file, small.results / file)
    statement = ("--statement", "results/runs/m/verified.json")
    assert small.call("submit", "check", "results/runs/m", *statement).exit_code in {0, 1}
    return small


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each (container, key) in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from places(item)


def changed_json(text: str, draw: random.Random) -> str:
    """The document with one value replaced, removed, or added."""
    document = json.loads(text)
    container, key = draw.choice(list(places(document)))
    change = draw.random()
    if change < 0.1 and isinstance(container, dict):
        del container[key]
    elif change < 0.15 and isinstance(container, dict):
        container["unknown"] = draw.choice(OTHER_VALUES)
    else:
        container[key] = copy.deepcopy(draw.choice(OTHER_VALUES))
    return json.dumps(document)


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """The content cut, or with some bytes in place of others."""
    start = draw.randrange(len(content))
    end = min(len(content), start + draw.choice((1, 1, 20)))
    between = draw.choice((b"", b"\xff", b"\n", b"{", b"\x00", content[start:end] * 2, b"[" * 5000))
    return content[:start] + between + (content[end:] if draw.random() < 0.7 else b"")


def mutate(path: Path, draw: random.Random) -> None:
    """Changes one file at one place."""
    content = path.read_bytes()
    if draw.random() < 0.2:
        path.write_bytes(changed_bytes(content, draw))
    elif path.suffix == ".json":
        path.write_text(changed_json(content.decode(), draw))
    else:
        lines = content.decode().splitlines()
        place = draw.randrange(len(lines))
        lines[place] = changed_json(lines[place], draw)
        path.write_text("\n".join(lines) + "\n")


def read_all(root: Path) -> dict[Path, int]:
    """Reads every file as commands do; returns how many records each has."""
    folder, counts = ResultsFolder(root), {}
    kinds = {entry.id: entry.record for entry in catalogue.entries()}
    for model, suite in folder.files():
        path = folder.lines(model, suite)
        records, _ = read_undamaged_records(path, kinds[suite])
        counts[path] = len(records)
        for read in (
            lambda model=model, suite=suite: folder.read_manifest(model, suite),
            ResultsFile(path, kinds[suite]).scan,
            lambda model=model: read_graded_again(folder, model),
        ):
            refused(read)
    for file in recorded_files(root):
        counts[file.lines] = len(refused(file.read) or ())
    return counts


def refused(read: Any) -> Any:
    """What reading returns; None where the user is told why it cannot be read."""
    try:
        return read()
    except UserError as error:
        assert str(error)
        return None


def mutated_files(small: SmallRun, seed: str, count: int) -> Iterator[tuple[Path, random.Random]]:
    """Changes one file, yields it, and puts it back, so often."""
    draw = random.Random(seed)
    files = sorted(
        path
        for part in ("runs", "recorded")
        for path in (small.results / part).rglob("*.json*")
        if path.is_file()
    )
    for _ in range(count):
        path = draw.choice(files)
        content = path.read_bytes()
        mutate(path, draw)
        yield path, draw
        path.write_bytes(content)


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_readers_tell_and_lose_nothing_else(whole: SmallRun, count: int, tmp_path: Path) -> None:
    """Every reader returns what is whole; only records of the file that was changed can be missing."""
    before = read_all(whole.results)
    known = catalogue.BUILT_IN
    for path, _ in mutated_files(whole, f"readers {count}", count):
        after = read_all(whole.results)
        beside = {path, path.with_name(path.name.replace(".manifest.json", ".jsonl"))}
        assert {one for one in before if after.get(one) != before[one]} <= beside, path
        if count == 100:
            gather(whole.results, None, known=known, cache=tmp_path)


@pytest.mark.parametrize("count", [len(COMMANDS), pytest.param(50, marks=pytest.mark.slow)])
def test_commands_tell_what_is_wrong(whole: SmallRun, count: int) -> None:
    """Each command in turn ends with a code, a notice or an error in words."""
    for number, (path, _) in enumerate(mutated_files(whole, f"commands {count}", count)):
        command = COMMANDS[number % len(COMMANDS)]
        shutil.rmtree(whole.root / "exported", ignore_errors=True)
        error = whole.call(*command).exception
        assert error is None or isinstance(error, SystemExit | UserError), (command, path, path.read_text())
