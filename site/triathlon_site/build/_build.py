"""The build.

What scores and pages are made with takes as long to import as a model's changed files take to read: it is
imported while other processes read them.
"""

import gc
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from triathlon_runner import cache
from triathlon_runner.errors import UserError
from triathlon_runner.registry import Registry
from triathlon_runner.store import IMPORTED
from triathlon_runner.suites import SuiteEntry
from triathlon_site.build._places import check_apart, check_empty
from triathlon_site.evidence import EvidenceExtractor
from triathlon_site.load import (
    AggregateCache,
    Extracts,
    FileAggregate,
    Notice,
    Tasks,
    read_results,
    reading,
    suite_ids,
)
from triathlon_site.render import installed_environment

if TYPE_CHECKING:
    from triathlon_site.pages import Gathered

PROCESSES: Final = 2
WORTH_A_PROCESS: Final = 20_000
"""Units of results below which starting more processes takes longer than rendering."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did."""

    out: Path
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
    cache: Path | None = None,
    history: bool = False,
    url: str = "",
) -> BuildReport:
    """Writes the site of these results to `out`, whole or not at all.

    Args:
        results: the folder of results; nothing is written into it but, with `history`, `history.json`.
        out: the folder of the site.
        registry: what is known of the models.
        strict: whether any fault in the results ends the build.
        catalogue: the suites; left out, all that there are.
        cache: where aggregates are kept between builds; left out, nothing is kept.
        history: whether `history.json` is brought up to date, so that the next build says what changed since.
        url: where the site will be published, for the addresses in the feed.

    Raises:
        UserError: `url` is no web address; `strict` and there is something to warn of; `out` cannot be
            written or is no site, or the results lie in it or it among them.
    """
    check_apart(results, out)
    url = _checked_url(url)
    started = time.monotonic()
    with _cache(cache) as kept, _without_collector():
        site = replace(gather(results, registry, catalogue=catalogue, cache=kept), url=url)
        if strict and site.notices:
            lines = "\n".join(str(notice) for notice in site.notices)
            raise UserError(
                f"--strict: expected flawless results, found {len(site.notices)} faults:\n{lines}"
            )
        if not site.units:
            check_empty(results, out)
        pages = _write(site, out)
        notices = (*site.notices, *(_remember(results, site) if history else ()))
        AggregateCache(kept).prune()
    return BuildReport(out, pages, len(site.results.models), site.units, time.monotonic() - started, notices)


def _checked_url(url: str) -> str:
    """With a slash at its end, so that a page's path can follow."""
    if url and not url.startswith(("https://", "http://")):
        raise UserError(f"expected the site's address, such as 'https://example.org/board/', got {url!r}")
    return url if not url or url.endswith("/") else f"{url}/"


def _write(site: "Gathered", out: Path) -> int:
    from threadpoolctl import threadpool_limits  # noqa: PLC0415  see above

    from triathlon_site.build._evidence import evidence_files  # noqa: PLC0415  see above
    from triathlon_site.build._write import write_site  # noqa: PLC0415  see above
    from triathlon_site.pages import Rendering  # noqa: PLC0415  see above

    environment = installed_environment()
    gc.freeze()  # what is gathered stays to the end: it need not be searched after each section
    processes = PROCESSES if site.units >= WORTH_A_PROCESS else 1
    with threadpool_limits(1):  # a product, in each process
        return write_site(out, Rendering(site, environment), evidence_files(site), processes=processes)


def _remember(results: Path, site: "Gathered") -> list[Notice]:
    """The build's places beside the results, so that the next can say what moved."""
    from triathlon_site.history import HISTORY_FILE, write_history  # noqa: PLC0415  see above

    if not site.boards:
        return []
    try:
        write_history(results, site.history)
    except (OSError, UserError) as error:
        return [Notice(file=HISTORY_FILE, message=f"cannot be written ({error}): the site is complete")]
    return []


@contextmanager
def _without_collector() -> Iterator[None]:
    """The search for cycles took a third of a build's time. The few that there are, of templates at work, are
    collected after each file and section, among nothing but what came since.
    """
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


@contextmanager
def _cache(folder: Path | None) -> Iterator[Path]:
    """The folder for aggregates; one that is thrown away where none is named."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


def cache_folder() -> Path:
    """Where aggregates are kept between builds."""
    return cache.cache_folder() / "site"


def gather(
    results: Path,
    registry: Registry | None,
    *,
    catalogue: Sequence[SuiteEntry] | None = None,
    cache: Path | None = None,
) -> "Gathered":
    """Reads and scores everything; writes nothing but the cache.

    Raises:
        UserError: there is no results folder, or SOURCE_DATE_EPOCH is no number.
    """
    if not results.is_dir():
        raise UserError(
            f"expected a folder of results at {str(results)!r}, there is none;"
            " run `triathlon run` first or name another with --results"
        )
    day = _day()
    entries = catalogue if catalogue is not None else _catalogue(results)
    names = {row.id: row.name for row in registry.models} if registry else {}
    environment = installed_environment()
    measured, imported = (EvidenceExtractor(environment, names, imported=one) for one in (False, True))
    with _cache(cache) as kept:
        aggregates = AggregateCache(kept)
        foreign = read_results(results / IMPORTED, entries, aggregates, imported)
        with reading(results, entries, aggregates, measured) as finish:
            from triathlon_site.build._gathered import gathered  # noqa: PLC0415  see above

            read = finish()
        aggregates.hashes.save()
        if cache is None:
            read = replace(read, files=tuple(map(_without_cache, read.files)))
    return gathered(results, registry, entries, read=read, foreign=foreign, day=day)


def _day() -> str | None:
    """Of SOURCE_DATE_EPOCH, which numpy reads, too; the clock's would change the bytes.

    Raises:
        UserError: it is no number, or of no year that a calendar has.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return None
    with suppress(ValueError, OverflowError):
        if epoch.isdigit():
            return datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
    raise UserError(f"SOURCE_DATE_EPOCH must be seconds since 1970, got {epoch!r}; mend or unset it")


def _without_cache(file: FileAggregate) -> FileAggregate:
    return replace(file, tasks=Tasks(file.tasks.columns), extracts=Extracts())


def _catalogue(results: Path) -> Sequence[SuiteEntry]:
    """Every suite, and those of the user's own that there are results of."""
    from triathlon_runner import catalogue  # noqa: PLC0415 (builds every discipline's list: only where needed)

    known = catalogue.entries()
    others = suite_ids(results) - {entry.id for entry in known}
    return (*known, *(found for suite in sorted(others) if (found := catalogue.find(suite))))
