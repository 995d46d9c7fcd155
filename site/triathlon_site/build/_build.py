"""The build: gather everything, check it, then write; nothing where the site is there already."""

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

from triathlon_runner import cache as runner_cache
from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import Registry
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import counted
from triathlon_site.build._gather import gather
from triathlon_site.build._last_build import BuildReport, inputs_of, remember, report_of_last, state_of
from triathlon_site.build._write import check_apart, check_empty, evidence_files, sweep, write_site
from triathlon_site.history import HISTORY_FILE, write_history
from triathlon_site.load import AggregateCache, Notice
from triathlon_site.pages import Gathered, Rendering, imported_files
from triathlon_site.render import installed_environment
from triathlon_site.workers import PROCESSES

WORTH_A_PROCESS: Final = 20_000
"""Units of results below which starting more processes takes longer than rendering."""


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
    as_of: str = "",
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
        as_of: the day that decides which models can be used; left out, the newest one in facts and results.

    Raises:
        UserError: `url` is no web address; `as_of` is no day; `strict` and there is something to warn of, or
            nothing to show; `out` cannot be written or is no site, or the results lie in it or it among them.
    """
    check_apart(results, out)
    url, as_of = checked_url(url), checked_day(as_of)
    started = time.monotonic()
    sweep(out.resolve())
    chosen = None if catalogue is None else [entry.id for entry in catalogue]
    shaping = (chosen, known, url, docs, history, os.environ.get("SOURCE_DATE_EPOCH"), as_of, registry)
    inputs = inputs_of(results, repr(shaping)) if cache else ""
    if cache and not strict and (report := report_of_last(cache, out, state_of(inputs, results, out))):
        return report.model_copy(update={"seconds": time.monotonic() - started})
    with tempfile.TemporaryDirectory() as temporary:
        folder = cache or Path(temporary)
        gathered = gather(results, registry, catalogue=catalogue, known=known, cache=folder, as_of=as_of)
        site = replace(gathered, url=url, docs=docs)
        if strict and site.notices:
            raise _not_flawless(results, site.notices)
        if not site.units:
            check_empty(results, out, strict=strict and not site.imported)
        processes = PROCESSES if site.units >= WORTH_A_PROCESS else 1
        rendering = Rendering(site, installed_environment())
        pages = write_site(out, rendering, evidence_files(site), processes=processes)
        AggregateCache(folder).prune()
    notices = (*site.notices, *(_remember(results, site) if history else ()))
    report = BuildReport(
        pages=pages,
        models=len(site.results.models),
        units=site.units,
        imported_units=sum(file.units for file in imported_files(site.imported)),
        seconds=time.monotonic() - started,
        notices=notices,
    )
    if cache:
        remember(cache, out, state_of(inputs, results, out), report)
    return report


def _not_flawless(results: Path, notices: Sequence[Notice]) -> UserError:
    lines = [notice.below(results) for notice in notices]
    lines += filter(None, [about_commands(results, notices)])
    return UserError(
        f"--strict: expected flawless results, found {counted(len(notices), 'fault')}; no page was written."
        " Lines that are said to count do so in a build without --strict:\n" + "\n".join(lines)
    )


def about_commands(results: Path, notices: Sequence[Notice]) -> str:
    """A line below notices whose commands are for the default folder; empty where it says nothing new."""
    option = ResultsFolder(results).option
    names_command = any(  # `submit` takes a model's folder, not --results
        "`triathlon " in notice.message.replace("`triathlon submit", "") for notice in notices
    )
    return f"commands named above need{option}, too" if option and names_command else ""


def checked_url(url: str) -> str:
    """With a slash at its end, so that a page's path can follow.

    Raises:
        UserError: it is no web address.
    """
    if url and not url.startswith(("https://", "http://")):
        raise UserError(f"expected the site's address, such as 'https://example.org/board/', got {url!r}")
    return url if not url or url.endswith("/") else f"{url}/"


def checked_day(day: str) -> str:
    """The day as it came, empty or such as `2026-11-26`.

    Raises:
        UserError: it is no day.
    """
    try:
        date.fromisoformat(day or "2026-11-26")
    except ValueError:
        raise UserError(
            f"expected a day for --as-of, such as '2026-11-26', got {day!r}; correct it or leave it out"
        ) from None
    return day


def cache_folder() -> Path:
    """Where aggregates are kept between builds."""
    return runner_cache.cache_folder() / "site"


def _remember(results: Path, site: Gathered) -> list[Notice]:
    """Writes the build's ranks beside the results, so that the next build can say what moved."""
    try:
        if site.boards:
            write_history(results, site.history)
    except (OSError, UserError) as error:
        return [Notice(file=HISTORY_FILE, message=f"cannot be written ({error}): the site is complete")]
    return []
