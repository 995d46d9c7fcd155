"""Where one model falls: its largest drops in points, each with a task that is failed."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from triathlon_runner.records import Outcome
from triathlon_site.evidence import ATTEMPTS, SUMMARY, read_attempts, read_summary
from triathlon_site.load import FileAggregate
from triathlon_site.pages.board import LINE_KINDS, curve_columns, question_columns
from triathlon_site.scores import Board, ColumnScores, set_title

MOST: Final = 8
MOST_OF_A_KIND: Final = 2
FEWEST_ANSWERS: Final = 50  # about a kind of line, below which its share says little


class Drop(NamedTuple):
    """Two scores of one model, in per cent, of which the second is lower."""

    first: str  # what was asked at first, in words
    before: float
    second: str
    after: float
    task: str  # one that is failed in the second; empty where none is known
    path: str  # of its evidence

    @property
    def points(self) -> float:
        return self.before - self.after


def drops_of(model: str, boards: Sequence[Board]) -> list[Drop]:
    """The largest drops of a model, the largest first."""
    drops: list[Drop] = []
    for board in boards:
        for found in (_loops, _sets, _lines):
            falls = sorted(found(board, model), key=lambda drop: -drop.points)
            drops += [drop for drop in falls[:MOST_OF_A_KIND] if drop.points > 0]
    return sorted(drops, key=lambda drop: (-drop.points, drop.second))[:MOST]


def _share(column: ColumnScores, model: str) -> float | None:
    """In per cent of the maximum, under whatever protocol: a model is compared with itself alone."""
    score = column.shown(model)
    return 100 * score.value / column.column.maximum if score else None


def _file(board: Board, model: str, suite: str) -> FileAggregate:
    return next(file for file in board.files[model] if file.suite == suite)


def _loops(board: Board, model: str) -> Iterator[Drop]:
    """From the first loop to the last, with a task that was lost between them."""
    curve = curve_columns(board)
    if not curve:
        return
    before, after = (_share(column, model) for column in (curve[0], curve[-1]))
    if before is None or after is None:
        return
    attempts = read_attempts(_file(board, model, curve[0].column.suites[0]).extracts.read(ATTEMPTS))
    whole = f"{len(curve)} loops"
    lost = (one for one in attempts if one.outcome.endswith((" loop", " loops")) and one.outcome != whole)
    task, _, path = next(lost, ("", "", ""))
    yield Drop(f"loop, {board.plan.title}: loop 1", before, f"loop {len(curve)}", after, task, path)


def _sets(board: Board, model: str) -> Iterator[Drop]:
    """From the problems that a set was evolved from to the set."""
    single = {c.column.suites[0]: c for c in board.shown if len(c.column.suites) == 1}
    for entry in board.plan.suites:
        if not entry.seeds or entry.id in entry.seed_suites or entry.id not in single:
            continue
        known = (suite for suite in reversed(entry.seed_suites) if suite in single)
        seeds = next((suite for suite in known if single[suite].shown(model)), "")
        before = _share(single[seeds], model) if seeds else None
        after = _share(single[entry.id], model)
        if before is None or after is None:
            continue
        # a task that is failed though what it was evolved from is solved, else one that is failed
        old, new = (_file(board, model, suite) for suite in (seeds, entry.id))
        solved = {task.task_id for task in old.tasks if task.outcome == Outcome.PASSED}
        failed = [task for task in new.tasks if task.outcome != Outcome.PASSED]
        lost = [task.task_id for task in failed if task.parents and solved >= {*task.parents}]
        task = next(iter(lost or [task.task_id for task in failed]), "")
        addresses = {one.task: one.address for one in read_attempts(new.extracts.read(ATTEMPTS))}
        names = [set_title(suite.partition("/")[2].removeprefix("core-")) for suite in (seeds, entry.id)]
        first = f"{board.plan.discipline}: {names[0]}"
        yield Drop(first, before, names[1], after, task, addresses.get(task, ""))


def _lines(board: Board, model: str) -> Iterator[Drop]:
    """From all lines to the kind of line that a question is answered worst about."""
    for file in board.files[model]:
        summary = read_summary(file.extracts.read(SUMMARY))
        if "lines" not in summary:
            continue
        tried = (one for one in read_attempts(file.extracts.read(ATTEMPTS)) if one.outcome != Outcome.PASSED)
        task, _, path = next(tried, ("", "", ""))
        for place, column in enumerate(question_columns(board)[:3]):
            counts = {kind: summary["lines"][kind][place] for kind in LINE_KINDS}
            shares = {kind: 100 * r / of for kind, (r, of) in counts.items() if of >= FEWEST_ANSWERS}
            whole = _share(column, model)
            if shares and whole is not None:
                worst = min(shares, key=lambda kind: shares[kind])
                first = f"runtime, {board.plan.title}: {column.column.title.lower()}, all lines"
                yield Drop(first, whole, LINE_KINDS[worst], shares[worst], task, path)
