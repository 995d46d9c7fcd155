"""The build."""

import gc
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

import platformdirs
from threadpoolctl import threadpool_limits

from triathlon_runner.errors import UserError
from triathlon_runner.registry import Registry
from triathlon_runner.store import IMPORTED
from triathlon_runner.suites import SuiteEntry
from triathlon_site.build._evidence import EvidenceExtractor, evidence_files
from triathlon_site.build._write import check_apart, write_site
from triathlon_site.history import HISTORY_FILE, read_history, snapshot_of, write_history
from triathlon_site.load import (
    AggregateCache,
    Extracts,
    FileAggregate,
    Notice,
    Results,
    Tasks,
    read_archived,
    read_results,
    suite_ids,
)
from triathlon_site.pages import Gathered, Rendering, installed_environment, model_infos
from triathlon_site.published import read_published
from triathlon_site.scores import (
    Board,
    BoardPlan,
    Overall,
    first_boards,
    overall,
    plan_boards,
    score_board,
    with_baselines,
)
from triathlon_site.uncertainty import forget_weights

PROCESSES: Final = 2
WORTH_A_PROCESS: Final = 20_000
"""Units of results below which starting more processes takes longer than rendering."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did."""

    out: Path
    pages: int
    models: int
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
) -> BuildReport:
    """Writes the site of these results to `out`, whole or not at all.

    Raises:
        UserError: `strict` and there is something to warn of; `out` cannot be written or is no site, or the
            results lie in it or it among them.
    """
    check_apart(results, out)
    started = time.monotonic()
    # One thread a product: matrices are small, several threads would mostly wait for each other.
    with _cache(cache) as kept, _without_collector(), threadpool_limits(1):
        return _build(results, out, registry, strict, catalogue, kept, started)


def _build(
    results: Path,
    out: Path,
    registry: Registry | None,
    strict: bool,
    catalogue: Sequence[SuiteEntry] | None,
    cache: Path,
    started: float,
) -> BuildReport:
    environment = installed_environment()
    environment.compile(cache / "templates")  # once, before processes part
    site = gather(results, registry, catalogue=catalogue, cache=cache)
    if strict and site.notices:
        lines = "\n".join(str(notice) for notice in site.notices)
        raise UserError(f"--strict: expected flawless results, found {len(site.notices)} faults:\n{lines}")
    gc.freeze()  # what is gathered stays to the end: it need not be searched after each section
    pages = write_site(
        out,
        Rendering(site, environment),
        evidence_files(site),
        processes=PROCESSES if site.units >= WORTH_A_PROCESS else 1,
    )
    notices = (*site.notices, *_remember(results, site))
    AggregateCache(cache).prune()
    models = len(site.results.models)
    return BuildReport(out, pages, models, time.monotonic() - started, notices)


def _remember(results: Path, site: Gathered) -> list[Notice]:
    """The build's places beside the results, so that the next can say what moved."""
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
    """Where aggregates are kept between builds: under `TRIATHLON_CACHE`, else the user's cache."""
    named = os.environ.get("TRIATHLON_CACHE")
    return (Path(named) if named else platformdirs.user_cache_path("triathlon")) / "site"


def gather(
    results: Path,
    registry: Registry | None,
    *,
    catalogue: Sequence[SuiteEntry] | None = None,
    cache: Path | None = None,
) -> Gathered:
    """Reads and scores everything; writes nothing but the cache."""
    entries = catalogue if catalogue is not None else _catalogue(results)
    names = {row.id: row.name for row in registry.models} if registry else {}
    measured, imported = (
        EvidenceExtractor(installed_environment(), names, imported=one) for one in (False, True)
    )
    with _cache(cache) as kept:
        aggregates = AggregateCache(kept)
        read = read_results(results, entries, aggregates, measured)
        foreign = read_results(results / IMPORTED, entries, aggregates, imported)
        if cache is None:
            read = replace(read, files=tuple(map(_without_cache, read.files)))
    plans = plan_boards(entries)
    boards = with_baselines(_score(plans, read))
    overalls = _overalls(boards)
    before, faults = read_history(results)
    read = replace(read, notices=(*read.notices, *faults, *_of_imports(foreign)))
    named = {*read.models, *foreign.models, *(skipped.model for skipped in read.skipped)}
    return Gathered(
        results=read,
        boards=boards,
        overalls=overalls,
        models=model_infos(registry, named),
        date=_date(read),
        published=read_published(results / "published"),
        version=version("triathlon-leaderboard"),
        imported=tuple(_score(plans, foreign)),
        archived=tuple(read_archived(results)),
        history=before.after(
            snapshot_of(read, boards, overalls), _date(read), version("triathlon-leaderboard")
        ),
    )


def _score(plans: Sequence[BoardPlan], results: Results) -> list[Board]:
    """Those that there are results for. Numpy leaves other threads their turn; the largest boards come first,
    so that none is left alone at the end.
    """
    units: Counter[str] = Counter()
    for file in results.files:
        units[file.suite] += file.units
    largest = sorted(plans, key=lambda plan: -sum(units[suite.id] for suite in plan.suites))
    with ThreadPoolExecutor(PROCESSES) as pool:
        boards = list(pool.map(lambda plan: score_board(plan, results), largest))
    forget_weights()
    found = {board.plan.id: board for board in boards if board}
    return [found[plan.id] for plan in plans if plan.id in found]


def _without_cache(file: FileAggregate) -> FileAggregate:
    return replace(file, tasks=Tasks(file.tasks.columns), extracts=Extracts())


def _of_imports(foreign: Results) -> Iterator[Notice]:
    """Their faults, with their files named as they lie in the results folder."""
    for notice in foreign.notices:
        yield notice.model_copy(update={"file": f"{IMPORTED}/{notice.file}"})


def _catalogue(results: Path) -> Sequence[SuiteEntry]:
    """Every suite, and those of the user's own that there are results of."""
    from triathlon_runner import catalogue  # noqa: PLC0415 (builds every discipline's list: only where needed)

    known = catalogue.entries()
    others = suite_ids(results) - {entry.id for entry in known}
    return (*known, *(found for suite in sorted(others) if (found := catalogue.find(suite))))


def _overalls(boards: Sequence[Board]) -> dict[str, Overall]:
    families = ("core", "official")
    by_family = {f: [board for board in boards if board.plan.family == f] for f in families}
    firsts = {family: first_boards(own) for family, own in by_family.items()}
    return {family: overall(own) for family, own in firsts.items() if own}


def _date(results: Results) -> str:
    """SOURCE_DATE_EPOCH's day, else that of the newest result; the clock's would change the bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        ends = [file.manifest.ended[:10] for file in results.files if file.manifest]
        return max(ends, default="")
    if not epoch.isdigit():
        raise UserError(f"SOURCE_DATE_EPOCH must be seconds since 1970, got {epoch!r}; mend or unset it")
    return datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
