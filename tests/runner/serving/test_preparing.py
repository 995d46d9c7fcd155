"""What is prepared once: others wait for it, and long work shows signs of life."""

import asyncio
from pathlib import Path

import pytest

from triathlon_runner.serving import _preparing


async def test_made_once_with_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two who want a file one makes it; that is reported at its begin, now and again, and at its end."""
    monkeypatch.setattr(_preparing, "_REPORT_SECONDS", 0.01)
    reported: list[str] = []
    often = asyncio.Event()
    made: list[Path] = []
    target = tmp_path / "folder" / "target"

    def report(line: str) -> None:
        reported.append(line)
        if sum("so far" in each for each in reported) == 2:
            often.set()

    async def make() -> None:
        await often.wait()
        target.touch()
        made.append(target)

    await asyncio.gather(*(_preparing.prepare_once(target, make, "converting", report) for _ in range(2)))
    lines = [line for line in reported if "waiting for another run" not in line]
    assert (lines[0], lines[1]) == ("converting (once)", "converting, 0 s so far")
    assert lines[-1].startswith("converting: done in ")
    assert made == [target]
    ended_with = len(reported)
    await asyncio.sleep(0.05)
    assert len(reported) == ended_with
