"""A results folder that is mounted read-only, which not even root can write to."""

import errno
import os
from pathlib import Path

import pytest

from support.small_run import ROWS, SmallRun
from triathlon_runner.errors import UserError


def test_said_before_anything_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked (nobody is there), and the message names the folder, the reason and the way out."""
    place = SmallRun(tmp_path)
    (tmp_path / "models.yaml").write_text(ROWS.format(url="http://127.0.0.1:9/v1"))
    write = Path.write_bytes

    def refuse(path: Path, data: bytes) -> int:
        if "results" in path.parts:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", refuse)
    result = place.call("run", "--suites", "evolved/core-seeds", "--limit", "1")
    assert isinstance(result.exception, UserError)
    assert "'results' (Read-only file system); pass --results" in str(result.exception)
    assert not (tmp_path / "results" / "runs" / "m").exists()
