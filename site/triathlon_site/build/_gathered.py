"""From what was read to everything that pages are made of."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from triathlon_runner.registry import Registry
from triathlon_runner.store import IMPORTED
from triathlon_runner.suites import SuiteEntry
from triathlon_site.history import read_history, snapshot_of
from triathlon_site.load import Notice, Results, read_archived
from triathlon_site.models import model_infos
from triathlon_site.pages import Gathered
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

THREADS: Final = 2
"""That score boards."""


def gathered(
    folder: Path,
    registry: Registry | None,
    entries: Sequence[SuiteEntry],
    *,
    read: Results,
    foreign: Results,
    day: str | None,
) -> Gathered:
    """Scores what was read.

    Args:
        folder: of the results, for what is beside them: history, archive, published tables.
        registry: what is known of the models.
        entries: every suite.
        read: the measured results.
        foreign: the imported ones.
        day: of the site; left out, that of the newest result.
    """
    plans = plan_boards(entries)
    with threadpool_limits(1):  # a product: of small matrices, where more would wait for each other
        boards = with_baselines(_score(plans, read))
        imported = tuple(_score(plans, foreign))
    overalls = _overalls(boards)
    before, faults = read_history(folder)
    read = replace(read, notices=(*read.notices, *faults, *_of_imports(foreign)))
    named = {*read.models, *foreign.models, *(skipped.model for skipped in read.skipped)}
    program = version("triathlon-leaderboard")
    date = day or max((file.manifest.ended[:10] for file in read.files if file.manifest), default="")
    return Gathered(
        results=read,
        boards=boards,
        overalls=overalls,
        models=model_infos(registry, named),
        date=date,
        published=read_published(folder / "published"),
        version=program,
        imported=imported,
        archived=tuple(read_archived(folder)),
        history=before.after(snapshot_of(read, boards, overalls), date, program),
    )


def _of_imports(foreign: Results) -> Iterator[Notice]:
    """Their faults, with their files named as they lie in the results folder."""
    for notice in foreign.notices:
        yield notice.model_copy(update={"file": f"{IMPORTED}/{notice.file}"})


def _score(plans: Sequence[BoardPlan], results: Results) -> list[Board]:
    """Those that there are results for. Numpy leaves other threads their turn; the largest boards come first,
    so that none is left alone at the end.
    """
    units: Counter[str] = Counter()
    for file in results.files:
        units[file.suite] += file.units
    largest = sorted(plans, key=lambda plan: -sum(units[suite.id] for suite in plan.suites))
    with ThreadPoolExecutor(THREADS) as pool:
        boards = list(pool.map(lambda plan: score_board(plan, results), largest))
    forget_weights()
    found = {board.plan.id: board for board in boards if board}
    return [found[plan.id] for plan in plans if plan.id in found]


def _overalls(boards: Sequence[Board]) -> dict[str, Overall]:
    families = ("core", "official")
    by_family = {f: [board for board in boards if board.plan.family == f] for f in families}
    firsts = {family: first_boards(own) for family, own in by_family.items()}
    return {family: overall(own) for family, own in firsts.items() if own}
