"""What the last build of a site was made from: where nothing changed since, nothing is read or written."""

import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

from triathlon_runner.records import Strict
from triathlon_runner.store import replace_file
from triathlon_site.history import HISTORY_FILE
from triathlon_site.load import Notice, code_fingerprint, file_state
from triathlon_site.render import find_templates

PACKAGES: Final = ("jinja2", "markdown-it-py", "numpy", "pandas", "plotly", "pyarrow", "scipy")
"""Whose versions shape pages and data files."""


class BuildReport(Strict):
    """What a build did."""

    pages: int
    models: int
    units: int
    imported_units: int
    seconds: float
    notices: tuple[Notice, ...]


class LastBuild(Strict):
    """A file of the cache for each site."""

    state: str
    """Of what the site was built from and of its files, as `state_of` has it."""
    report: BuildReport


def inputs_of(results: Path, options: str) -> str:
    """Returns a hash of everything that shapes a site but its history: results, templates, code, options."""
    files = (state for state in _files(results) if not state.startswith(f"{HISTORY_FILE} "))
    return _hash(
        code_fingerprint(),
        *map(version, PACKAGES),
        str(results.resolve()),
        options,
        *files,
        *_files(find_templates()),
    )


def state_of(inputs: str, results: Path, out: Path) -> str:
    """Returns a hash of what shapes the site, its history included, and of the site as it is."""
    return _hash(inputs, file_state(results / HISTORY_FILE), *_files(out))


def report_of_last(cache: Path, out: Path, state: str) -> BuildReport | None:
    """Returns what the build reported that wrote this very site of these inputs; None where there is none."""
    try:
        last = LastBuild.model_validate_json(_path(cache, out).read_bytes())
    except (OSError, ValueError):
        return None  # never built, or by another version
    return last.report if last.state == state else None


def remember(cache: Path, out: Path, state: str, report: BuildReport) -> None:
    """Writes what a build reported into the cache.

    Raises:
        OSError: the file cannot be written.
    """
    path = _path(cache, out)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, LastBuild(state=state, report=report).model_dump_json())


def _path(cache: Path, out: Path) -> Path:
    return cache / "built" / f"{_hash(str(out.resolve()))[:32]}.json"


def _files(folder: Path) -> Iterator[str]:
    """Name, size and time of each file in a folder, in the order of their names."""
    for path in sorted(folder.rglob("*")):
        if not path.is_dir():
            yield f"{path.relative_to(folder).as_posix()} {file_state(path)}"


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()
