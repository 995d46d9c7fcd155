"""The build: gather everything, check it, then write."""

import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from triathlon_runner import cache
from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.registry import Registry
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import counted
from triathlon_site.build._gather import gather
from triathlon_site.build._unchanged import Built, inputs_of, last_build, remember_build, site_of
from triathlon_site.build._write import check_apart, check_empty, evidence_files, sweep, write_site
from triathlon_site.history import HISTORY_FILE, write_history
from triathlon_site.load import AggregateCache, Notice, file_state
from triathlon_site.pages import Gathered, Rendering
from triathlon_site.render import installed_environment

PROCESSES: Final = 2
WORTH_A_PROCESS: Final = 20_000
"""Units of results below which starting more processes takes longer than rendering."""


@dataclass(frozen=True)
class BuildReport:
    """What a build did."""

    pages: int
    models: int
    units: int
    seconds: float
    notices: tuple[Notice, ...]


def build(
    results: Path,
    out: Path,
    registry: Registry | None,
    strict: bool = False,
    *,
    catalogue: Sequence[SuiteEntry] | None = None,
    known: Catalogue = BUILT_IN,
    cache: Path | None = None,
    history: bool = False,
    url: str = "",
    docs: str = "",
) -> BuildReport:
    """Writes the site of these results to `out`, whole or not at all; nothing where it is there already.

    Args:
        results: the folder of results; nothing is written into it but, with `history`, `history.json`.
        out: the folder of the site.
        registry: what is known of the models.
        strict: whether any fault in the results ends the build.
        catalogue: the suites; left out, all that there are.
        known: all that there are: the built-in ones and those of a suites.yaml.
        cache: where is kept what was read; left out, every results file is read and the site written anew.
        history: whether `history.json` is brought up to date, so that the next build says what changed since.
        url: where the site will be published, for the addresses in the feed.
        docs: where the docs will be, seen from the front page; every page then links to them.

    Raises:
        UserError: `url` is no web address; `strict` and there is something to warn of, or nothing to show;
            `out` cannot be written or is no site, or the results lie in it or it among them.
    """
    check_apart(results, out)
    url = checked_url(url)
    started = time.monotonic()
    sweep(out.resolve())
    ids = None if catalogue is None else [entry.id for entry in catalogue]
    inputs = inputs_of(results, registry, (ids, known), (url, docs), history)
    if cache and not strict and (last := last_build(cache, out, results, inputs)):
        seconds = time.monotonic() - started
        return BuildReport(last.pages, last.models, last.units, seconds, last.notices)
    with _folder(cache) as folder, _rare_collections():
        gathered = gather(results, registry, catalogue=catalogue, known=known, cache=folder)
        site = replace(gathered, url=url, docs=docs)
        if strict and site.notices:
            lines = "\n".join(notice.below(results) for notice in site.notices)
            faults = counted(len(site.notices), "fault")
            raise UserError(
                f"--strict: expected flawless results, found {faults}; no page was written. Lines that are"
                f" said to count do so in a build without --strict:\n{lines}{about_commands(results)}"
            )
        if not site.units:
            check_empty(results, out, strict=strict)
        pages = _write(site, out)
        notices = (*site.notices, *(_remember(results, site) if history else ()))
        AggregateCache(folder).prune()
        built = Built(
            inputs=inputs,
            history=file_state(results / HISTORY_FILE),
            site=site_of(out),
            pages=pages,
            models=len(site.results.models),
            units=site.units,
            notices=notices,
        )
        remember_build(folder, out, built)
    return BuildReport(pages, built.models, built.units, time.monotonic() - started, notices)


def about_commands(results: Path) -> str:
    """A line below faults, whose commands are for the default folder; empty for the default folder."""
    option = ResultsFolder(results).option
    return f"\ncommands named above need{option}, too" if option else ""


def checked_url(url: str) -> str:
    """With a slash at its end, so that a page's path can follow.

    Raises:
        UserError: it is no web address.
    """
    if url and not url.startswith(("https://", "http://")):
        raise UserError(f"expected the site's address, such as 'https://example.org/board/', got {url!r}")
    return url if not url or url.endswith("/") else f"{url}/"


def _write(site: Gathered, out: Path) -> int:
    environment = installed_environment()
    processes = PROCESSES if site.units >= WORTH_A_PROCESS else 1
    with threadpool_limits(1):  # sums in one order give the same bytes everywhere
        return write_site(out, Rendering(site, environment), evidence_files(site), processes=processes)


def _remember(results: Path, site: Gathered) -> list[Notice]:
    """Writes the build's ranks beside the results, so that the next build can say what moved."""
    if not site.boards:
        return []
    try:
        write_history(results, site.history)
    except (OSError, UserError) as error:
        return [Notice(file=HISTORY_FILE, message=f"cannot be written ({error}): the site is complete")]
    return []


@contextmanager
def _folder(cache: Path | None) -> Iterator[Path]:
    """The folder of the cache; where none is named, one that is removed afterwards."""
    if cache is not None:
        yield cache
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Looks for garbage less often: records and pages are many objects that live long and hold few cycles.

    At Python's own thresholds a third of the time of a large build goes into collections.
    """
    before = gc.get_threshold()
    gc.set_threshold(20_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def cache_folder() -> Path:
    """Where aggregates are kept between builds."""
    return cache.cache_folder() / "site"
