"""Results of a run that was killed, and files that are damaged: what the commands say of them."""

import asyncio
import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import triathlon_site.cli  # noqa: F401  # adds its commands
from support.core_model import answer
from support.model_server import ModelServer
from support.server_replies import Asked
from support.small_run import KEY, ROWS, SmallRun
from triathlon_runner import catalogue
from triathlon_runner.grading import Grader
from triathlon_runner.records import UnitRecord
from triathlon_runner.sandbox import SandboxError
from triathlon_runner.schedule import Work
from triathlon_runner.store import read_records
from triathlon_runner.verify import replayed

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-c", "from triathlon_site.cli import main; main()"]
SUITE, TASKS, ANSWERED = "evolved/core-seeds", 12, 5
LINES = Path("runs/m") / f"{SUITE}.jsonl"
MANIFEST = Path("runs/m") / f"{SUITE}.manifest.json"


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A run of twelve units that `kill -9` ended when some lines were there."""
    small = SmallRun(tmp_path_factory.mktemp("killed"))
    asyncio.run(_killed(small))
    return small


async def _killed(small: SmallRun) -> None:
    async def some(asked: Asked) -> str:
        if server.count > ANSWERED:
            await asyncio.sleep(60)
        return answer(asked)

    lines = small.results / LINES
    async with ModelServer(some) as server:
        (small.root / "models.yaml").write_text(ROWS.format(url=server.base_url))
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *("run", "--suites", SUITE, "--limit", str(TASKS)),
            cwd=small.root,
            env={**os.environ, "TRIATHLON_CACHE": str(small.root / "cache"), "SMALL_RUN_KEY": KEY},
            stdout=asyncio.subprocess.DEVNULL,
        )
        async with asyncio.timeout(60):
            while not lines.exists() or lines.read_bytes().count(b"\n") < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        process.kill()
        await process.wait()


@pytest.fixture
def copy(killed: SmallRun, tmp_path: Path) -> SmallRun:
    """One that a test may spoil."""
    shutil.copytree(killed.root, tmp_path / "killed")
    return SmallRun(tmp_path / "killed")


def count(small: SmallRun) -> int:
    return (small.results / LINES).read_bytes().count(b"\n")


def test_the_lines_of_a_killed_run_follow(killed: SmallRun) -> None:
    """What is there is graded again; that the run did not end is said, and is no fault: exit code 0."""
    result = killed.call("verify")
    assert result.exit_code == 0, result.output
    assert f"unfinished run, {count(killed)} lines whole" in result.output
    assert f"{count(killed)} units in 1 file" in result.output


def test_a_killed_run_is_listed_by_its_lines(killed: SmallRun) -> None:
    """Lines are counted, the rest of the plan is open, and no moment stands under `ended`."""
    (row,) = json.loads(killed.call("results", "list", "--json").output)
    assert (row["units"], row["open"], row["ended"]) == (count(killed), TASKS - count(killed), "")
    assert f"unfinished run, {count(killed)} lines whole" in row["state"]
    assert row["state"].startswith("current")


def test_a_torn_line_is_said(copy: SmallRun) -> None:
    """A line that was cut before its end is no unit, and both commands say so."""
    with (copy.results / LINES).open("ab") as file:
        file.write(b'{"schema":1,"suite"')
    verified = copy.call("verify")
    assert (verified.exit_code, "cut before its end" in verified.output) == (0, True)
    (row,) = json.loads(copy.call("results", "list", "--no-check", "--json").output)
    assert row["units"] == count(copy) and "cut before its end; `triathlon run`" in row["state"]


def test_lines_that_were_lost_do_not_follow(small: SmallRun) -> None:
    """An unfinished run never has fewer lines than when it began."""
    path = small.results / MANIFEST
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "ended": "", "open_units": 3}))
    lines = small.results / LINES
    lines.write_bytes(lines.read_bytes().splitlines(keepends=True)[0])
    result = small.call("verify", "--suites", SUITE)
    assert result.exit_code == 1
    assert "manifest units: the manifest counts 2 units or more, its lines 1 unit" in result.output


def test_what_cannot_be_checked_is_not_accused(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a manifest, without a suite and without an interpreter: exit code 1, the reason, what to do."""

    async def without_php(record: UnitRecord, work: Work, grader: Grader) -> UnitRecord:
        if work.suite_id == "loop/core" and record == first:
            raise SandboxError("php is not installed: 'php' is not on the PATH")
        return await replayed(record, work, grader)

    monkeypatch.setattr("triathlon_runner.cli._verify.replayed", without_php)
    first = next(
        read_records(small.results / "runs/m/loop/core.jsonl", catalogue.select(["loop/core"])[0].record)
    )
    (small.results / MANIFEST).unlink()
    folder = small.results / "runs/m/runtime"
    for ending in (".jsonl", ".manifest.json"):
        (folder / f"core{ending}").rename(folder / f"mine{ending}")
    manifest = folder / "mine.manifest.json"
    manifest.write_text(manifest.read_text().replace('"runtime/core"', '"runtime/mine"'))
    result = small.call("verify")
    assert result.exit_code == 1 and "NOT FOLLOW" not in result.output
    for suite in ("loop/core: 1/2", f"{SUITE}: 2/2", "runtime/mine: 0/2"):
        assert f"m {suite} units, could not be checked" in result.output
    for why in ("php is not installed", "`triathlon run` counts them", "unknown suite 'runtime/mine'"):
        assert why in result.output
    assert "could not be checked: in 3 of 3 files" in result.output and "`triathlon doctor`" in result.output


def test_known_names_without_results_are_no_unknown_ones(small: SmallRun) -> None:
    """A suite of the catalogue and a model of models.yaml; a name that nothing knows stays unknown."""
    (small.root / "models.yaml").write_text(
        ROWS.format(url="http://localhost/v1").replace("id: m", "id: other")
    )
    for option, name, said in (
        ("--suites", "loop/mbpp-plus", "no results of suite 'loop/mbpp-plus' here; `triathlon run`"),
        ("--models", "other", "no results of model 'other' here; `triathlon run`"),
        ("--models", "n", "unknown model 'n'; known are: m"),
    ):
        assert said in str(small.call("verify", option, name).exception)


@pytest.mark.parametrize("ended", ["", "2026-01-01T00:00:00+00:00"])
def test_a_smaller_run_that_asks_nothing_hides_no_open_units(small: SmallRun, ended: str) -> None:
    """What a larger run left open stays listed after a run whose own units were all there."""
    path = small.results / MANIFEST
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "ended": ended, "open_units": 3, "planned": "of 5 tasks"}))
    result = small.run()
    assert result.exit_code == 0 and "0 units finished, 0 open" in result.output
    rows = json.loads(small.call("results", "list", "--json").output)
    (row,) = [row for row in rows if row["suite"] == SUITE]
    assert (row["units"], row["open"], row["ended"]) == (2, 3, ended)


MANIFESTS: dict[str, Callable[[str], str]] = {
    "torn": lambda text: text[: len(text) // 2],
    "newer": lambda text: text.replace('"schema_version": 1', '"schema_version": 2'),
    "unknown key": lambda text: text.replace("{", '{"colour": "red", ', 1),
    "no object": lambda text: "[1, 2]",
    "no text": lambda text: "\udcff",
}


@pytest.mark.parametrize("fault", MANIFESTS)
def test_an_unreadable_manifest_stops_its_file(small: SmallRun, fault: str) -> None:
    """Nobody knows what its lines are: nothing is asked or overwritten, and it is said what to do."""
    path, lines = small.results / MANIFEST, small.results / LINES
    path.write_text(MANIFESTS[fault](path.read_text()), errors="surrogateescape")
    before = path.read_bytes(), lines.read_bytes()
    result = small.run()  # the other suites are finished, so nobody is asked: the server is gone
    assert result.exit_code == 2, result.output
    assert "core-seeds.manifest.json' cannot be used" in result.output.replace("\n", "")
    assert "results archive --models m --suites evolved/core-seeds" in result.output.replace("\n", " ")
    assert (path.read_bytes(), lines.read_bytes()) == before
    listed = json.loads(small.call("results", "list", "--json").output)
    states = {row["suite"]: row["state"] for row in listed}
    assert "cannot be used" in states[SUITE]
    assert all("cannot be used" not in state for suite, state in states.items() if suite != SUITE)
    verified = small.call("verify", "--suites", SUITE)
    assert verified.exit_code == 1 and "cannot be used" in verified.output
    archived = small.call("results", "archive", "--models", "m", "--suites", SUITE)
    assert archived.exit_code == 0, archived.output
    assert not path.exists() and not lines.exists()


def test_a_manifest_that_is_gone(small: SmallRun) -> None:
    """The run says once which file has none, that its lines count, and how to put them aside."""
    (small.results / MANIFEST).unlink()
    result = small.run()
    assert result.exit_code == 0, result.output
    assert f"no manifest beside 'results/{LINES}'" in result.output
    assert "its 2 lines" in result.output and "They count" in result.output
    assert f"`triathlon results archive --models m --suites {SUITE}`" in result.output
    assert "no manifest" not in small.run().output


def damage(small: SmallRun) -> Path:
    lines = small.results / LINES
    first, _ = lines.read_text().splitlines()
    lines.write_text(f"{first}\nnonsense\n")
    return lines


@pytest.mark.parametrize(
    "command",
    [
        "results diff results results",
        f"run --suites {SUITE} --limit 2 --dry-run",
        f"run --suites {SUITE} --limit 2",
        f"verify --suites {SUITE}",
        "results list",
        "scores",
        "build",
        "build --strict",
    ],
)
def test_a_damaged_line_is_named(small: SmallRun, command: str) -> None:
    """Each command says the same: file, line, what was expected, what came, what to do; no traceback."""
    damage(small)
    result = small.call(*command.split())
    said = f"{result.output}{result.exception}"
    assert "Traceback" not in said
    assert (
        f"results/{LINES}, line 2: expected a JSON object, got 'nonsense'; delete the line, and the next"
        " run makes its unit again: replies in the cache are graded again"
    ) in said


@pytest.mark.parametrize("command", ["results list", f"run --suites {SUITE} --limit 2"])
def test_all_damaged_lines_are_named(small: SmallRun, command: str) -> None:
    """Who has several to delete learns of all at once."""
    lines = small.results / LINES
    first, second = lines.read_text().splitlines()
    lines.write_text(f"{first}\nnonsense\n{second}\n[]\n{{}}\n")
    result = small.call(*command.split())
    said = f"{result.output}{result.exception}"
    assert "line 2: expected a JSON object" in said and "2 further lines with a fault: 4, 5" in said


def test_a_file_that_cannot_be_read_hides_no_other(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """`results list` and `verify` name it and go on with the others."""
    path = Path("results") / LINES
    opened, allowed = Path.open, os.access

    def refuse(file: Path, *rest: Any, **options: Any) -> Any:
        if file == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return opened(file, *rest, **options)

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(os, "access", lambda file, mode: file != path and allowed(file, mode))
    rows = {row["suite"]: row for row in json.loads(small.call("results", "list", "--json").output)}
    assert len(rows) == 3 and rows[SUITE]["short"] == "unreadable"
    assert rows[SUITE]["state"] == f"{path}: cannot be read (Permission denied); make it readable"
    verified = small.call("verify")
    assert verified.exit_code == 1
    assert "could not be checked" in verified.output and verified.output.count("units, follows") == 2


def test_an_archive_replaces_nothing(small: SmallRun) -> None:
    """Numbers in the archive are never given again, also where some were deleted."""
    kept = {}
    for number in (1, 2, 3):
        lines, manifest = small.results / LINES, small.results / MANIFEST
        beside = manifest.read_bytes()
        content = lines.read_bytes()
        assert small.call("results", "archive", "--suites", SUITE).exit_code == 0
        folder = small.results / "archive/m" / SUITE
        (new,) = [path for path in folder.glob("*.jsonl") if path not in kept]
        kept[new] = f"archive {number}"
        new.write_text(kept[new])
        lines.write_bytes(content)
        manifest.write_bytes(beside)
        if number == 2:
            first = min(kept)
            first.unlink()
            del kept[first]
    assert {path: path.read_text() for path in kept} == kept


def test_json_of_verify_and_diff(small: SmallRun, finished: SmallRun) -> None:
    """Machines get what the screen says, exit codes included."""
    verified = json.loads(small.call("verify", "--json").stdout)
    assert verified["follows"] and len(verified["files"]) == 3
    assert {file["units"] for file in verified["files"]} == {2}
    lines = small.results / LINES
    first, second = map(json.loads, lines.read_text().splitlines())
    outcome, first["outcome"] = first["outcome"], "refused"
    lines.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    result = small.call("verify", "--json")
    (bad,) = [file for file in json.loads(result.stdout)["files"] if not file["follows"]]
    assert result.exit_code == 1
    assert {
        "what": f"{first['task_id']} #0 outcome",
        "stored": "'refused'",
        "expected": f"'{outcome}'",
    } in bad["mismatches"]
    differs = small.call("results", "diff", "--json", str(finished.results), "results")
    assert differs.exit_code == 1
    assert json.loads(differs.stdout)["files"][f"m {SUITE}"] == [
        {"task_id": first["task_id"], "sample": 0, "before": outcome, "after": "refused"}
    ]


DAMAGES: dict[str, Callable[[list[str]], list[str]]] = {
    "garbage": lambda lines: ["garbage", *lines[1:]],
    "doubled": lambda lines: [*lines, lines[0]],
    "edited outcome": lambda lines: [json.dumps(json.loads(lines[0]) | {"outcome": "refused"}), *lines[1:]],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_listed_without_a_row(small: SmallRun, damage: str) -> None:
    """That the model has no row is one fact; that its file cannot be read is another."""
    lines = small.results / LINES
    lines.write_text("\n".join(DAMAGES[damage](lines.read_text().splitlines())) + "\n")
    (small.root / "models.yaml").unlink()
    rows = json.loads(small.call("results", "list", "--json").output)
    (row,) = [row for row in rows if row["suite"] == SUITE]
    state = "altered" if damage == "edited outcome" else "unreadable"
    assert row["short"] == f"{state}, not in models.yaml"
    assert row["units"] + row["open"] == 2 and row["open"] == (damage != "doubled")
    assert len(row["reasons"]) == 1 and "core-seeds.jsonl, line " in row["reasons"][0]
    assert {row["short"] for row in rows if row["suite"] != SUITE} == {"not in models.yaml"}


def test_a_manifest_that_is_gone_is_listed(small: SmallRun) -> None:
    """Lines whose conditions nobody knows are not called current; it is said what to do."""
    (small.results / MANIFEST).unlink()
    rows = json.loads(small.call("results", "list", "--json").output)
    (row,) = [row for row in rows if row["suite"] == SUITE]
    assert row["short"] == "no manifest"
    assert f"no manifest beside 'results/{LINES}'" in row["reasons"][0]
    assert f"`triathlon results archive --models m --suites {SUITE}`" in row["reasons"][0]
