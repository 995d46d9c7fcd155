"""Where a model falls: boards that rank it lower than plain pass@1 does, and its largest drops in points."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_runner.records import Outcome
from triathlon_site.evidence import ATTEMPTS, SUMMARY, read_attempts, read_summary
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board import LINE_KINDS, BoardRetention, curve_columns, question_columns, view_of
from triathlon_site.ranking import RankShift
from triathlon_site.render import formats
from triathlon_site.scores import Board, ColumnScores, Score, set_title

LISTED: Final = 5
"""Tasks that are named: those with the largest gaps."""
MOST_DROPS: Final = 8
MOST_OF_A_BOARD: Final = 2
FEWEST_ANSWERS: Final = 50
"""About a kind of line, below which its share says little."""


@dataclass(frozen=True)
class Example:
    """A task that the model loses and other models still solve."""

    task: str
    note: str
    path: str
    """Path of its evidence; empty where there is none."""


@dataclass(frozen=True)
class Fall:
    """One board on which a model ranks lower than by plain pass@1."""

    board: Board
    score: Score
    shift: RankShift
    """The rank shift of the score."""
    text: list[str]
    """The model's losses, in sentences."""
    examples: list[Example]


@dataclass(frozen=True)
class SteepestFall:
    """The largest significant fall of a model."""

    model: str
    board: Board
    places: int


def falls_of(info: ModelInfo, boards: Sequence[Board]) -> list[Fall]:
    """The boards that rank a model below its rank by plain pass@1; significant falls first."""
    falls = [
        _fall(info.id, board, score, shift)
        for board in boards
        if (score := board.headline.scores.get(info.id)) and (shift := score.shift)
        if shift.told and shift.shift < 0
    ]
    return sorted(falls, key=lambda fall: not fall.shift.significant)


def steepest(boards: Sequence[Board]) -> SteepestFall | None:
    """The largest significant fall on these boards; None where there is none."""
    falls = [
        (score.shift.shift, place, model)
        for place, board in enumerate(boards)
        for model, score in board.headline.scores.items()
        if score.shift and score.shift.told and score.shift.significant and score.shift.shift < 0
    ]
    if not falls:
        return None
    shift, place, model = min(falls)
    return SteepestFall(model, boards[place], -shift)


def retention_on(board: Board, parents: Mapping[str, Sequence[str]]) -> BoardRetention:
    """The retention of every model on a board, given the parents of each of its tasks."""
    return BoardRetention(board.headline.samples[0].models, tuple(view_of(board).retentions(board, parents)))


def _fall(model: str, board: Board, score: Score, shift: RankShift) -> Fall:
    view = view_of(board)
    tasks = [task for file in board.files[model] for task in file.tasks] if view.has_parents else []
    retention = retention_on(board, {task.task_id: task.parents for task in tasks})
    row = retention.models.index(model)
    text: list[str] = []
    if not np.isnan(retention.means[row]):
        text += view.losses(model, board, retention)
        text += _endings(model, board, retention, row) if view.names_endings else ()
    return Fall(board, score, shift, text, list(_examples(model, board, retention, row)))


def _endings(model: str, board: Board, retention: BoardRetention, row: int) -> Iterator[str]:
    """How the tasks that the model lost ended."""
    lost = {
        suite.tasks[place]
        for suite in retention.suites
        for place in np.flatnonzero(suite.values[row] < suite.most)
    }
    outcomes = Counter(
        formats.words(task.outcome)
        for file in board.files[model]
        for task in file.tasks
        if task.outcome != "passed" and task.task_id in lost
    )
    if outcomes:
        counts = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
        samples = max(task.sample for file in board.files[model] for task in file.tasks) + 1
        answers = f", {samples} answers each" if samples > 1 else ""
        yield f"How the tasks that it loses end{answers}: {counts}."


def _examples(model: str, board: Board, retention: BoardRetention, row: int) -> Iterator[Example]:
    """The tasks with the largest gaps to the other models, with the evidence of the model's units."""
    losses = [
        (-gap, suite.tasks[place], place, suite)
        for suite in retention.suites
        for place, gap in enumerate(suite.gaps[row].tolist())
        if gap > 0
    ]
    texts = {file.suite: file.extracts.read(ATTEMPTS) for file in board.files[model]}
    for _, task, place, suite in sorted(losses, key=lambda loss: loss[:2])[:LISTED]:
        address = {name: address for name, _, address in read_attempts(texts[suite.suite])}.get(task, "")
        value = float(suite.values[row, place])
        rivals, total = float(suite.counts[place] - 1), float(suite.totals[place] - value)
        yield Example(task, view_of(board).loss_note(value, total, rivals, suite.most), address)


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
        task, path = _lost_child(board, model, seeds, entry.id)
        before, after = (share or 0.0 for share in shares)
        names = [set_title(suite.partition("/")[2].removeprefix("core-")) for suite in (seeds, entry.id)]
        yield Drop(f"{board.plan.discipline}: {names[0]}", before, names[1], after, task, path)


def _share(column: ColumnScores, model: str) -> float | None:
    """In per cent of the maximum, under whatever protocol: a model is compared with itself alone."""
    score = column.shown(model)
    return 100 * score.value / column.column.maximum if score else None


def _files(board: Board, model: str, suites: Sequence[str]) -> list[FileAggregate]:
    return [file for suite in suites for file in board.files[model] if file.suite == suite]


def _lost_child(board: Board, model: str, seeds: str, suite: str) -> tuple[str, str]:
    """A task of the set that is failed though what it was evolved from is solved, else one that is failed."""
    old, new = _files(board, model, (seeds, suite))
    solved = {task.task_id for task in old.tasks if task.outcome == Outcome.PASSED}
    failed = [task for task in new.tasks if task.outcome != Outcome.PASSED]
    lost = [task for task in failed if task.parents and solved >= {*task.parents}] or failed
    addresses = {one.task: one.address for one in read_attempts(new.extracts.read(ATTEMPTS))}
    return (lost[0].task_id, addresses.get(lost[0].task_id, "")) if lost else ("", "")


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
