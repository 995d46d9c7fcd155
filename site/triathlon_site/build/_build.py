"""The build: gather everything, check it, then write; nothing where the site is there already."""

import gc
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Final

from triathlon_runner import cache as runner_cache
from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import Registry
from triathlon_runner.records import Strict
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.terminal import counted
from triathlon_site.build._gather import gather
from triathlon_site.build._write import check_apart, check_empty, evidence_files, sweep, write_site
from triathlon_site.history import HISTORY_FILE, write_history
from triathlon_site.load import AggregateCache, Notice, code_fingerprint, file_state
from triathlon_site.pages import Gathered, Rendering
from triathlon_site.render import find_templates, installed_environment
from triathlon_site.workers import PROCESSES

WORTH_A_PROCESS: Final = 20_000
"""Units of results below which starting more processes takes longer than rendering."""
OBJECTS_A_COLLECTION: Final = 100_000
"""Between two looks for garbage in cycles: a build makes many objects, and hardly any in cycles."""
PACKAGES: Final = ("jinja2", "markdown-it-py", "numpy", "pandas", "plotly", "pyarrow", "scipy")
"""Whose versions shape pages and data files."""


@dataclass(frozen=True)
class Options:
    """How a site is built."""

    strict: bool = False
    """Whether any fault in the results ends the build."""
    history: bool = False
    """Whether `history.json` is brought up to date, so that the next build says what changed since."""
    url: str = ""
    """Where the site will be published, for the addresses in the feed."""
    docs: str = ""
    """Where the docs will be, seen from the front page; every page then links to them."""
    as_of: str = ""
    """The day that decides which models can be used; left out, the newest one in facts and results."""


class BuildReport(Strict):
    """What a build did."""

    pages: int
    models: int
    units: int
    imported_units: int
    seconds: float
    notices: tuple[Notice, ...]


class LastBuild(Strict):
    """What a site was made from; a file of the cache for each. Where nothing changed, nothing is written."""

    state: str
    """Hash of what the site was built from, and of its files."""
    report: BuildReport


def build(
    results: Path,
    out: Path,
    registry: Registry | None,
    options: Options | None = None,
    *,
    known: Catalogue = BUILT_IN,
    cache: Path | None = None,
) -> BuildReport:
    """Writes the site of these results to `out`, whole or not at all; nothing where it is there already.

    Args:
        results: the folder of results; nothing is written into it but, where that is asked, `history.json`.
        out: the folder of the site.
        registry: what is known of the models.
        options: left out, the defaults.
        known: all suites that there are: the built-in ones and those of a suites.yaml.
        cache: where is kept what was read; left out, every results file is read and the site written anew.

    Raises:
        UserError: an address is none, or a day; where faults end the build, there is something to warn of, or
            nothing to show; `out` cannot be written or is no site, or the results lie in it or it among them.
    """
    started = time.monotonic()
    check_apart(results, out)
    options = options or Options()
    options = replace(options, url=checked_url(options.url), as_of=_checked_day(options.as_of))
    sweep(out.resolve())
    problems = [data.sha256 for data in known.user_data]
    shaping = repr((known, problems, options, os.environ.get("SOURCE_DATE_EPOCH"), registry))
    inputs = _inputs_of(results, shaping) if cache else ""
    last = _last_build(cache, out) if cache and not options.strict else None
    if last and last.state == _state_of(inputs, results, out):
        return last.report.model_copy(update={"seconds": time.monotonic() - started})
    gc.set_threshold(OBJECTS_A_COLLECTION)
    with tempfile.TemporaryDirectory() as temporary:
        site, pages = _write(results, out, registry, options, known, cache or Path(temporary))
    report = BuildReport(
        pages=pages,
        models=len(site.results.models),
        units=site.units,
        imported_units=sum(file.units for file in site.imported_files),
        seconds=time.monotonic() - started,
        notices=(*site.results.notices, *(_write_history(results, site) if options.history else ())),
    )
    if cache:
        path = _last_path(cache, out)
        path.parent.mkdir(parents=True, exist_ok=True)
        last = LastBuild(state=_state_of(inputs, results, out), report=report)
        replace_file(path, last.model_dump_json())
    return report


def _write(
    results: Path, out: Path, registry: Registry | None, options: Options, known: Catalogue, cache: Path
) -> tuple[Gathered, int]:
    """Gathers, checks and writes the site; returns it and the number of its files."""
    gathered = gather(results, registry, known=known, cache=cache, as_of=options.as_of)
    site = replace(gathered, url=options.url, docs=options.docs)
    if options.strict and (notices := site.results.notices):
        raise UserError(
            f"--strict: expected flawless results, found {counted(len(notices), 'fault')}; no page was"
            " written. Lines that are said to count do so in a build without --strict:\n"
            + "\n".join(in_words(results, notices))
        )
    if not site.units:
        check_empty(results, out, strict=options.strict and not site.imported)
    processes = PROCESSES if site.units >= WORTH_A_PROCESS else 1
    rendering = Rendering(site, installed_environment())
    pages = write_site(out, rendering, evidence_files(site), processes=processes)
    AggregateCache(cache).prune()
    return site, pages


def in_words(results: Path, notices: Sequence[Notice]) -> list[str]:
    """Each fault once, with the path of its file and its first line; below them what commands need."""
    faults = groupby(notices, key=lambda notice: (notice.file, notice.message))
    lines = []
    for first, *more in (list(same) for _, same in faults):
        also = f"; likewise {counted(len(more), 'further line')}" if more else ""
        lines.append(f"{first.model_copy(update={'file': str(results / first.file)})}{also}")
    option = ResultsFolder(results).option
    names_command = any(  # `submit` takes a model's folder, not --results
        "`triathlon " in notice.message.replace("`triathlon submit", "") for notice in notices
    )
    return [*lines, f"commands named above need{option}, too"] if option and names_command else lines


def checked_url(url: str) -> str:
    """With a slash at its end, so that a page's path can follow.

    Raises:
        UserError: it is no web address.
    """
    if url and not url.startswith(("https://", "http://")):
        raise UserError(f"expected the site's address, such as 'https://example.org/board/', got {url!r}")
    return url if not url or url.endswith("/") else f"{url}/"


def _checked_day(day: str) -> str:
    """The day as `2026-11-26`, as which days are compared, or empty."""
    try:
        return day and date.fromisoformat(day).isoformat()
    except ValueError:
        raise UserError(
            f"expected a day for --as-of, such as '2026-11-26', got {day!r}; correct it or leave it out"
        ) from None


def cache_folder() -> Path:
    """Where aggregates are kept between builds."""
    return runner_cache.cache_folder() / "site"


def _write_history(results: Path, site: Gathered) -> list[Notice]:
    """Writes the build's ranks beside the results, so that the next build can say what moved."""
    try:
        if site.boards:
            write_history(results, site.history)
    except (OSError, UserError) as error:
        return [Notice(file=HISTORY_FILE, message=f"cannot be written ({error}): the site is complete")]
    return []


def _inputs_of(results: Path, options: str) -> str:
    """Returns a hash of everything that shapes a site but its history: results, templates, code, options."""
    files = (state for state in _files(results) if not state.startswith(f"{HISTORY_FILE} "))
    packages = map(version, PACKAGES)
    where = str(results.resolve())
    return _hash(code_fingerprint(), *packages, where, options, *files, *_files(find_templates()))


def _state_of(inputs: str, results: Path, out: Path) -> str:
    """Returns a hash of what shapes the site, its history included, and of the site as it is."""
    return _hash(inputs, file_state(results / HISTORY_FILE), *_files(out))


def _last_build(cache: Path, out: Path) -> LastBuild | None:
    """Returns what is known of the build that wrote a site; None where there was none, or another version."""
    try:
        return LastBuild.model_validate_json(_last_path(cache, out).read_bytes())
    except (OSError, ValueError):
        return None


def _last_path(cache: Path, out: Path) -> Path:
    return cache / "built" / f"{_hash(str(out.resolve()))[:32]}.json"


def _files(folder: Path) -> Iterator[str]:
    """Name, size and time of each file in a folder; of one that may not be read none."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from (f"{entry.name}/{state}" for state in _files(folder / entry.name))
        elif not entry.is_dir():
            yield f"{entry.name} {file_state(entry)}"


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()
