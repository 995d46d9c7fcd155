"""Is the site that is there the one that this build would write?"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from triathlon_runner.catalogue import Catalogue
from triathlon_runner.records import Strict
from triathlon_runner.registry import Registry
from triathlon_runner.store import replace_file
from triathlon_site.history import HISTORY_FILE
from triathlon_site.load import Notice, code_fingerprint, file_state
from triathlon_site.render import find_templates

PACKAGES: Final = ("jinja2", "markdown-it-py", "numpy", "pandas", "plotly", "pyarrow", "scipy")
"""Whose versions shape pages and data files."""
BUILT: Final = "built"
"""In the cache: a file for each site, about the last build that wrote it."""


class Built(Strict):
    """A finished build."""

    inputs: str
    """Hash of everything that shapes the site, the history apart."""
    history: str
    """Size and time of the history file when the build had ended."""
    site: str
    """Names, sizes and times of the site's files."""
    pages: int
    models: int
    units: int
    notices: tuple[Notice, ...]


def inputs_of(
    results: Path,
    registry: Registry | None,
    suites: tuple[Sequence[str] | None, Catalogue],
    addresses: tuple[str, str],
    history: bool,
) -> str:
    """Hash of everything that shapes the site but its history: results, templates, code and options.

    Args:
        results: the folder of results; of its files, names, sizes and times count.
        registry: what is known of the models.
        suites: ids of the suites, None for all that there are; and which there are.
        addresses: where the site will be published, and where the docs are below it.
        history: whether the history is brought up to date.
    """
    parts = [
        code_fingerprint(),
        *map(version, PACKAGES),
        str(results.resolve()),
        registry.model_dump_json() if registry else "",
        repr((suites, addresses, history, os.environ.get("SOURCE_DATE_EPOCH"))),
        *(state for state in _states(results) if not state.startswith(f"{HISTORY_FILE} ")),
        *_states(find_templates()),
    ]
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def site_of(out: Path) -> str:
    """Hash of the names, sizes and times of the site's files."""
    return hashlib.sha256("\0".join(_states(out)).encode(errors="surrogateescape")).hexdigest()


def _states(folder: Path) -> Iterator[str]:
    """A line for each file in a folder, in the order of their names."""
    for path in sorted(folder.rglob("*")):
        if not path.is_dir():
            yield f"{path.relative_to(folder).as_posix()} {file_state(path)}"


def last_build(cache: Path, out: Path, results: Path, inputs: str) -> Built | None:
    """The build that wrote this site of these inputs; None where the site has to be built."""
    try:
        built = Built.model_validate_json(_place(cache, out).read_bytes())
    except (OSError, ValueError):
        return None  # never built, or by another version
    if built.inputs != inputs or built.history != file_state(results / HISTORY_FILE):
        return None
    return built if built.site == site_of(out) else None


def remember_build(cache: Path, out: Path, built: Built) -> None:
    """Keeps what `last_build` finds."""
    path = _place(cache, out)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, built.model_dump_json())


def _place(cache: Path, out: Path) -> Path:
    return cache / BUILT / f"{hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:32]}.json"
