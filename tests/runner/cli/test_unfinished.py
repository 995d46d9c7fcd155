"""Results of a run that was killed, and files that are damaged: what the commands say of them."""

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from support.core_model import answer
from support.model_server import ModelServer
from support.server_replies import Asked
from support.small_run import ROWS, SmallRun, started
from triathlon_runner.grading import Grader
from triathlon_runner.records import UnitRecord
from triathlon_runner.sandbox import SandboxError
from triathlon_runner.schedule import Work
from triathlon_runner.verify import replayed

pytestmark = pytest.mark.slow

SUITE, TASKS, ANSWERED = "evolved/core-seeds", 12, 5


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

    lines = small.lines(SUITE)
    async with ModelServer(some) as server:
        (small.root / "models.yaml").write_text(ROWS.format(url=server.base_url))
        options = ("run", "--suites", SUITE, "--limit", str(TASKS))
        process = await started(small.root, *options, stdout=asyncio.subprocess.DEVNULL)
        async with asyncio.timeout(60):
            while not lines.exists() or lines.read_bytes().count(b"\n") < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        process.kill()
        await process.wait()


def test_a_killed_run(killed: SmallRun) -> None:
    """Its lines follow, with exit code 0; the rest of the plan is open, and no moment is under `ended`."""
    count = len(killed.records(SUITE))
    killed.expect("verify", 0, f"unfinished run, {count} lines whole", f"{count} units in 1 file")
    row = killed.listed()[SUITE]
    assert (row["units"], row["open"], row["ended"]) == (count, TASKS - count, "")
    assert row["state"].startswith("current") and f"unfinished run, {count} lines whole" in row["state"]


def test_what_cannot_be_checked_is_not_accused(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a manifest, without a suite and without an interpreter: exit code 1, the reason, what to do."""
    first = small.records("loop/core")[0]["task_id"]

    async def without_php(record: UnitRecord, work: Work, grader: Grader) -> UnitRecord:
        if (work.suite_id, record.task_id) == ("loop/core", first):
            raise SandboxError("php is not installed: 'php' is not on the PATH")
        return await replayed(record, work, grader)

    monkeypatch.setattr("triathlon_runner.cli._verify.replayed", without_php)
    small.manifest(SUITE).unlink()
    for path in (small.lines, small.manifest):
        path("runtime/core").rename(path("runtime/mine"))
    small.edit_manifest("runtime/mine", suite="runtime/mine")
    said = small.expect("verify", 1, "!NOT FOLLOW", "checked: in 3 of 3 files", "`triathlon doctor`")
    for suite in ("loop/core: 1/2", f"{SUITE}: 2/2", "runtime/mine: 0/2"):
        assert f"m {suite} units, could not be checked" in said
    for why in ("php is not installed", "`triathlon run` counts them", "unknown suite 'runtime/mine'"):
        assert why in said


def test_a_file_that_cannot_be_read_hides_no_other(small: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(f"results/runs/m/{SUITE}.jsonl")
    opened, allowed = Path.open, os.access

    def refuse(file: Path, *rest: Any, **options: Any) -> Any:
        if file == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
        return opened(file, *rest, **options)

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(os, "access", lambda file, mode: file != path and allowed(file, mode))
    rows = small.listed()
    assert len(rows) == 3 and rows[SUITE]["short"] == "unreadable"
    assert rows[SUITE]["state"] == f"{path}: cannot be read (Permission denied); make it readable"
    assert small.expect("verify", 1, "could not be checked").count("units, follows") == 2


def test_an_archive_replaces_nothing(small: SmallRun) -> None:
    """Numbers in the archive are never given again, also where some were deleted."""
    files = {path: path.read_bytes() for path in (small.lines(SUITE), small.manifest(SUITE))}
    kept: dict[Path, str] = {}
    for number in (1, 2, 3):
        small.expect(f"results archive --suites {SUITE}", 0)
        found = set((small.results / "archive/m" / SUITE).glob("*.jsonl"))
        (new,) = found - kept.keys()
        kept[new] = f"archive {number}"
        new.write_text(kept[new])
        for path, content in files.items():
            path.write_bytes(content)
        if number == 2:
            first = min(kept)
            first.unlink()
            del kept[first]
    assert {path: path.read_text() for path in kept} == kept
