"""Strong and weak sides of one model: columns above and below its rank, its largest drops, all dimensions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from markupsafe import Markup

from triathlon_runner.records import Outcome
from triathlon_site.evidence import ATTEMPTS, SUMMARY, read_attempts, read_summary
from triathlon_site.figures import Series, radar
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages._scores import axis_title, dimension_title, dimensions
from triathlon_site.pages.board import LINE_KINDS, curve_columns, question_columns
from triathlon_site.ranking import FEWEST_RANKED, Rank, RankShift
from triathlon_site.render import Figure, formats
from triathlon_site.scores import Board, ColumnScores, Overall, set_title

MOST: Final = 6
"""Columns named in either direction."""
MOST_DROPS: Final = 8
MOST_OF_A_BOARD: Final = 2
FEWEST_ANSWERS: Final = 50
"""About a kind of line, below which its share says little."""


@dataclass(frozen=True)
class Contrast:
    """A model's rank in a column beside its rank in the headline or the overall order."""

    column: str
    rank: Rank
    against: int
    """Its rank in the headline of the discipline; for a headline its overall rank."""
    order: str
    """The order that `against` is a rank in: `loop ASL`, `the overall order`."""
    shift: RankShift
    """From the one rank to the other, among the models that have both."""


@dataclass(frozen=True)
class Profile:
    """The columns in which a model's rank differs from its headline or overall rank."""

    better: list[Contrast]
    worse: list[Contrast]
    compared: int
    """Number of columns that were compared."""
    radar: Figure


def profile(model: str, boards: Sequence[Board], overalls: Mapping[str, Overall], models: Models) -> Profile:
    """The contrasts whose direction 97.5 % of the draws share; both ranks are drawn with the same weights."""
    contrasts = [c for c in _contrasts(model, boards, overalls) if c.shift.told]
    sure = [contrast for contrast in contrasts if contrast.shift.significant]
    better = sorted((c for c in sure if c.shift.shift > 0), key=lambda c: (-c.shift.shift, c.column))[:MOST]
    worse = sorted((c for c in sure if c.shift.shift < 0), key=lambda c: (c.shift.shift, c.column))[:MOST]
    return Profile(better, worse, len(contrasts), _radar(model, boards, models))


def _contrasts(model: str, boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Iterator[Contrast]:
    for board in boards:
        headline = board.headline.scores.get(model)
        order = f"{board.plan.discipline} {formats.inside(board.plan.headline.title)}"
        for column in board.shown:
            score = column.scores.get(model)
            if headline and headline.rank and score and score.rank and score.contrast:
                title = dimension_title(board, column)
                yield Contrast(title, score.rank, headline.rank.rank, order, score.contrast)
    for overall in overalls.values():
        for row in overall.rows:
            if row.model == model and row.rank:
                for board, score, shift in zip(overall.boards, row.scores, row.contrasts, strict=True):
                    if score and score.rank and shift:
                        title = dimension_title(board, board.headline)
                        yield Contrast(title, score.rank, row.rank.rank, "the overall order", shift)


def _radar(model: str, boards: Sequence[Board], models: Models) -> Figure:
    """Every dimension that the model has; grey: the median of all models."""
    axes = [(board, column) for board, column in dimensions(boards) if model in column.scores]
    if not axes:
        return Figure(Markup(""), "")
    shares = [
        {name: 100 * score.value / column.column.maximum for name, score in column.scores.items()}
        for _, column in axes
    ]
    series = [Series(models[model].label, tuple(share[model] for share in shares))]
    if shares and len(shares[0]) >= FEWEST_RANKED:
        medians = tuple(float(np.median(list(share.values()))) for share in shares)
        series.append(Series("median of all models", medians, muted=True))
    names = [axis_title(board, column) for board, column in axes]
    svg = radar(f"All dimensions of {models[model].label}", names, series)
    return Figure(svg, "All dimensions in per cent of their maximum; the ring with a number is the end.")


def falls_of(model: str, boards: Sequence[Board]) -> list[tuple[Board, Rank | None, RankShift]]:
    """The boards that rank a model lower than plain pass@1 does, its rank and the shift; sure ones first."""
    falls = [
        (board, score.rank, shift)
        for board in boards
        if (score := board.headline.scores.get(model)) and (shift := score.shift)
        if shift.told and shift.shift < 0
    ]
    return sorted(falls, key=lambda fall: not fall[2].significant)


@dataclass(frozen=True)
class Drop:
    """Two scores of one model, in per cent, of which the second is lower."""

    first: str
    """What was asked at first, in words."""
    before: float
    second: str
    after: float
    task: str
    """One that is failed in the second; empty where none is known."""
    path: str
    """Of its evidence."""

    @property
    def points(self) -> float:
        return self.before - self.after


def drops_of(info: ModelInfo, boards: Sequence[Board]) -> list[Drop]:
    """The largest drops of a model, the largest first."""
    drops: list[Drop] = []
    for board in boards:
        for found in (_loops, _sets, _lines):
            falls = sorted(found(board, info.id), key=lambda drop: -drop.points)
            drops += [drop for drop in falls[:MOST_OF_A_BOARD] if drop.points > 0]
    return sorted(drops, key=lambda drop: (-drop.points, drop.second))[:MOST_DROPS]


def _loops(board: Board, model: str) -> Iterator[Drop]:
    """From the first loop to the last."""
    curve = curve_columns(board)
    ends = [_share(column, model) for column in (*curve[:1], *curve[-1:])]
    if len(ends) < 2 or None in ends:
        return
    (file,) = _files(board, model, curve[0].column.suites)
    tried = [
        one
        for one in read_attempts(file.extracts.read(ATTEMPTS))
        if one.outcome.endswith((" loop", " loops"))
    ]
    task, _, path = next((one for one in tried if not one.outcome.startswith(f"{len(curve)} ")), ("",) * 3)
    name = f"loop, {board.plan.title}"
    before, after = (0.0 if end is None else end for end in ends)
    yield Drop(f"{name}: loop 1", before, f"loop {len(curve)}", after, task, path)


def _sets(board: Board, model: str) -> Iterator[Drop]:
    """From the problems that a set was evolved from to the set."""
    single = {c.column.suites[0]: c for c in board.shown if len(c.column.suites) == 1}
    for entry in board.plan.suites:
        if not entry.seeds or entry.id in entry.seed_suites or entry.id not in single:
            continue
        known = (suite for suite in reversed(entry.seed_suites) if suite in single)
        seeds = next((suite for suite in known if single[suite].shown(model)), "")
        shares = [_share(single[suite], model) for suite in (seeds, entry.id) if suite]
        if len(shares) < 2 or None in shares:
            continue
        # a task that is failed though what it was evolved from is solved, else one that is failed
        old, new = _files(board, model, (seeds, entry.id))
        solved = {task.task_id for task in old.tasks if task.outcome == Outcome.PASSED}
        failed = [task for task in new.tasks if task.outcome != Outcome.PASSED]
        lost = [task.task_id for task in failed if task.parents and solved >= {*task.parents}]
        task = next(iter(lost or [task.task_id for task in failed]), "")
        addresses = {one.task: one.address for one in read_attempts(new.extracts.read(ATTEMPTS))}
        before, after = (share or 0.0 for share in shares)
        names = [set_title(suite.partition("/")[2].removeprefix("core-")) for suite in (seeds, entry.id)]
        yield Drop(
            f"{board.plan.discipline}: {names[0]}", before, names[1], after, task, addresses.get(task, "")
        )


def _share(column: ColumnScores, model: str) -> float | None:
    """In per cent of the maximum, under whatever protocol: a model is compared with itself alone."""
    score = column.shown(model)
    return 100 * score.value / column.column.maximum if score else None


def _files(board: Board, model: str, suites: Sequence[str]) -> list[FileAggregate]:
    return [file for suite in suites for file in board.files[model] if file.suite == suite]


def _lines(board: Board, model: str) -> Iterator[Drop]:
    """From all lines to the kind of line that a question is answered worst about."""
    for file in board.files[model]:
        summary = read_summary(file.extracts.read(SUMMARY))
        if "lines" not in summary:
            continue
        tried = (one for one in read_attempts(file.extracts.read(ATTEMPTS)) if one.outcome != Outcome.PASSED)
        task, _, path = next(tried, ("",) * 3)
        for place, column in enumerate(question_columns(board)[:3]):
            counts = {kind: summary["lines"][kind][place] for kind in LINE_KINDS}
            shares = {kind: 100 * r / of for kind, (r, of) in counts.items() if of >= FEWEST_ANSWERS}
            whole = _share(column, model)
            if shares and whole is not None:
                worst = min(shares, key=lambda kind: shares[kind])
                title = f"runtime, {board.plan.title}: {column.column.title.lower()}, all lines"
                yield Drop(title, whole, f"{LINE_KINDS[worst]}", shares[worst], task, path)
