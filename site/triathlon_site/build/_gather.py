"""From the results to everything that pages are made of."""

import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_limits

from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import Registry
from triathlon_runner.store import IMPORTED, ResultsFolder
from triathlon_runner.suites import SuiteEntry
from triathlon_site.evidence import EvidenceExtractor
from triathlon_site.history import read_history, snapshot_of
from triathlon_site.load import AggregateCache, Extracts, Notice, Results, read_results, suite_ids
from triathlon_site.models import ModelInfo, Models, model_infos, newest_fact, printable, recorded_infos
from triathlon_site.pages import Gathered
from triathlon_site.pages.board import ARTICLES
from triathlon_site.published import read_published
from triathlon_site.recordings import read_recordings
from triathlon_site.render import installed_environment
from triathlon_site.scores import (
    FAMILIES,
    Board,
    Overall,
    first_boards,
    overall,
    plan_boards,
    score_board,
    with_baselines,
)
from triathlon_site.uncertainty import forget_weights
from triathlon_site.workers import PROCESSES


def gather(
    results: Path,
    registry: Registry | None,
    *,
    known: Catalogue = BUILT_IN,
    cache: Path | None = None,
    as_of: str = "",
) -> Gathered:
    """Reads and scores everything; writes nothing but the cache. The arguments are those of `build`.

    Without a cache the pages of evidence are not kept.

    Raises:
        UserError: there is no results folder, or SOURCE_DATE_EPOCH is no number.
    """
    ResultsFolder(results).check_is_there()
    day = _day()
    entries = known.entries()
    unlisted = suite_ids(results) - {entry.id for entry in entries}  # the user's own that have results
    entries = (*entries, *(entry for suite in sorted(unlisted) if (entry := known.find(suite))))
    measured, imported = _read(results, entries, cache)
    with threadpool_limits(1):  # sums in one order give the same bytes everywhere
        boards = with_baselines(_score(entries, measured))
        imported_boards = tuple(_score(entries, imported))
    overalls: dict[str, Overall] = {}
    for family in FAMILIES:
        if firsts := first_boards([board for board in boards if board.plan.family == family]):
            overalls[family] = overall(firsts)
    before, faults = read_history(results)
    program = version("triathlon-leaderboard")
    date = day or max((file.ended for file in measured.files), default="")
    published = read_published(results / "published")
    facts = published.facts
    as_of = as_of or max(newest_fact(facts.values()), date)
    recorded = recorded_infos(results)
    infos = model_infos(registry, {*measured.models, *imported.models}, recorded)
    # Bits of weights count only where the row was asked: others' replies are of other weights.
    asked = {file.model for file in measured.files if not file.receipt}
    infos = {m: info if m in asked else replace(info, bits=None) for m, info in infos.items()}
    files = {file.model: f"{IMPORTED}/{file.file}" for file in imported.files}
    files |= {file.model: file.file for file in measured.files}
    models, same_names = _told_apart(_on_day(as_of, infos, facts), files)
    notices = (*measured.notices, *faults, *imported.notices, *same_names)
    measured = replace(measured, notices=notices)
    return Gathered(
        results=measured,
        boards=boards,
        overalls=overalls,
        models=models,
        published_names={model: info.name for model, info in recorded.items()},
        date=date,
        as_of=as_of,
        known=known,
        published=replace(published, facts=_on_day(as_of, facts, facts)),
        version=program,
        imported=imported_boards,
        imported_files=imported.files if imported_boards else (),
        recordings=read_recordings(results, measured, models),
        history=before.after(snapshot_of(boards, overalls), date, program),
    )


def _on_day(day: str, models: Models, facts: Mapping[str, ModelInfo]) -> Models:
    """The cards as of a day; what the facts state of availability counts before a card without an end."""
    found = {}
    for model, info in models.items():
        own = info.availability
        stated = facts[info.name].availability if info.name in facts and not (own and own.end) else None
        found[model] = replace(info, availability=stated or own).on_day(day)
    return found


def _told_apart(models: Models, files: Mapping[str, str]) -> tuple[Models, list[Notice]]:
    """The cards, with the id behind each name that several models with results have, and a warning for each
    such name.

    Names that differ in spaces, hyphens and case alone are one, too. `files`: one of each model's results.
    """
    by_name: dict[str, list[ModelInfo]] = defaultdict(list)
    for model in sorted(files):
        by_name[re.sub(r"[\s_-]+", "", models[model].name.casefold())].append(models[model])
    cards, notices = dict(models), []
    for first, *others in by_name.values():
        for info in (first, *others) if others else ():
            shown = info.name if info.name == info.id else f"{info.name} ({printable(info.id)})"
            cards[info.id] = replace(info, name=shown)
        for info in others:
            message = (
                f"expected a name of its own for model {info.id!r}, got {info.name!r}, while {first.id!r} is"
                f" {first.name!r}; rename one of them in models.yaml, a recorded one in recorded/names.csv"
            )
            notices.append(Notice(file=files[info.id], message=message))
    return cards, notices


def _day() -> str | None:
    """Of SOURCE_DATE_EPOCH; the clock's would change the bytes."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return None
    with suppress(ValueError, OverflowError):
        if epoch.isdigit():
            return datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
    raise UserError(f"SOURCE_DATE_EPOCH must be seconds since 1970, got {epoch!r}; fix or unset it")


def _read(folder: Path, entries: Sequence[SuiteEntry], cache: Path | None) -> tuple[Results, Results]:
    """The measured and the imported results; of the latter, notices name files from the results folder."""
    both = []
    with tempfile.TemporaryDirectory() as temporary:
        aggregates = AggregateCache(cache or Path(temporary))
        for root, is_imported in ((folder, False), (folder / IMPORTED, True)):
            if is_imported and root.is_symlink():
                raise UserError(f"expected a folder at {str(root)!r}, got a link, which is not followed")
            extractor = EvidenceExtractor(installed_environment(), ARTICLES, imported=is_imported)
            both.append(read_results(root, entries, aggregates, extractor))
    if cache is None:  # its folder is gone
        both = [replace(r, files=tuple(replace(f, extracts=Extracts()) for f in r.files)) for r in both]
    measured, imported = both
    notices = [notice.model_copy(update={"file": f"{IMPORTED}/{notice.file}"}) for notice in imported.notices]
    return measured, replace(imported, notices=tuple(notices))


def _score(entries: Sequence[SuiteEntry], results: Results) -> list[Board]:
    """The boards that there are results for."""
    with ThreadPoolExecutor(PROCESSES) as pool:  # most of the time is numpy's, which lets others compute
        found = pool.map(partial(score_board, results=results), plan_boards(entries))
        boards = [board for board in found if board]
    forget_weights()
    return boards
