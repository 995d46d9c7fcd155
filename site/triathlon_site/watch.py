"""Rebuilding the site when its results, its templates or its code change."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import triathlon_runner
import triathlon_site
from triathlon_runner.suites_file import suites_file_beside
from triathlon_site.load import file_state
from triathlon_site.render import find_templates

INTERVAL: Final = 0.5
"""Seconds between two looks at the files."""

Snapshot = Mapping[str, str]


class Versions:
    """The number of the site's last rebuild, for others to wait on."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.number = 0

    def advance(self) -> None:
        """Says that the site was rebuilt."""
        with self._changed:
            self.number += 1
            self._changed.notify_all()

    def wait_beyond(self, number: int, seconds: float) -> bool:
        """Waits until there is a later version than `number`; False if there is none after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: self.number > number, seconds)


def snapshot(places: Sequence[Path]) -> Snapshot:
    """Size and time of change of every file below these folders, by path; a place may also be a file."""
    paths = (path for place in places for path in ([place] if place.is_file() else place.rglob("*")))
    return {
        os.fspath(path): file_state(path)
        for path in paths
        if "__pycache__" not in path.parts and path.is_file()
    }


def watched_places(results: Path, models_file: Path | None) -> list[Path]:
    """What a site is built from: results, lists of models and suites, templates, the packages' code."""
    packages = [Path(package.__path__[0]) for package in (triathlon_runner, triathlon_site)]
    lists = [path for path in (models_file, suites_file_beside(models_file)) if path]
    return [results, *lists, find_templates(), *packages]


def watch(
    places: Sequence[Path],
    built: Snapshot,
    rebuild: Callable[[], bool],
    versions: Versions,
    stop: threading.Event,
    interval: float = INTERVAL,
) -> None:
    """Rebuilds after each change, until `stop` is set.

    Args:
        places: the folders and files to look at.
        built: the state of them that the site was built from.
        rebuild: builds the site and says whether that succeeded.
        versions: advanced after each successful rebuild.
        stop: set by another thread to end the watch.
        interval: seconds between two looks.
    """
    while not stop.wait(interval):
        now = snapshot(places)
        if now == built:
            continue
        while not stop.wait(interval) and (later := snapshot(places)) != now:
            now = later  # somebody is still writing
        built = now
        if rebuild():
            versions.advance()


def rebuild_site(results: Path, out: Path, models_file: Path | None) -> bool:
    """Builds the site in a process of its own, which has the changed code; says whether that succeeded.

    Its messages stand on the terminal.
    """
    command = [sys.executable, "-m", "triathlon_site", "build", "--results", str(results), "--out", str(out)]
    models = ["--models-file", str(models_file)] if models_file else []
    return subprocess.run([*command, *models], check=False).returncode == 0
