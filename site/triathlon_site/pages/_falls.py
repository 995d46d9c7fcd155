"""Why a model falls: where it stands lower than by plain pass@1, what it loses there, and on which tasks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_runner.records import Discipline
from triathlon_site.evidence import ATTEMPTS, read_addresses
from triathlon_site.pages import _format
from triathlon_site.pages._figures import question_columns
from triathlon_site.pages._kept import Array, Kept, KeptBoard, kept_of, mean
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import board_page
from triathlon_site.ranking import RankShift
from triathlon_site.scores import Board, Score, set_title

LISTED: Final = 5
"""Tasks that say the most."""


@dataclass(frozen=True, slots=True)
class Example:
    """A task that the model loses and others keep."""

    task: str
    note: str
    path: str
    """Its evidence; empty where none is kept."""


@dataclass(frozen=True, slots=True)
class Fall:
    """One board on which a model stands lower than by plain pass@1."""

    board: Board
    path: str
    score: Score
    shift: RankShift
    baseline: str
    text: tuple[str, ...]
    """What it loses, in sentences."""
    examples: tuple[Example, ...]

    @property
    def anchor(self) -> str:
        return fall_anchor(self.board)


@dataclass(frozen=True, slots=True)
class _Loss:
    """A task that the others keep more of than one model."""

    kept: Kept
    place: int
    row: int
    """Of the model."""

    @property
    def gap(self) -> float:
        return float(self.kept.gaps[self.row, self.place])

    @property
    def task(self) -> str:
        return self.kept.tasks[self.place]


def fall_anchor(board: Board) -> str:
    return f"fall-{board.plan.id}"


def falls_of(info: ModelInfo, boards: Sequence[Board]) -> Iterator[Fall]:
    """The boards that place a model below its rank by plain pass@1; those that do so for sure first."""
    found = [
        (board, score, score.shift)
        for board in boards
        if (score := board.headline.scores.get(info.id)) and score.shift and score.shift.shift < 0
    ]
    for board, score, shift in sorted(found, key=lambda one: not one[2].significant):
        yield _fall(info, board, score, shift)


def steepest(boards: Sequence[Board]) -> tuple[str, Board, int] | None:
    """The model that falls by the most places for sure, where, and by how many."""
    found = [
        (score.shift.shift, place, model, board)
        for place, board in enumerate(boards)
        for model, score in board.headline.scores.items()
        if score.shift and score.shift.significant and score.shift.shift < 0
    ]
    if not found:
        return None
    shift, _, model, board = min(found, key=lambda one: one[:3])
    return model, board, -shift


def _fall(info: ModelInfo, board: Board, score: Score, shift: RankShift) -> Fall:
    kept = kept_of(board, _parents(info.id, board))
    row = kept.models.index(info.id)
    losses = _losses(kept, row)
    paths = _paths(info.id, board, losses)
    return Fall(
        board,
        board_page(board),
        score,
        shift,
        board.baseline or "plain pass@1",
        tuple(_text(info.id, board, kept, row)),
        tuple(_example(board, loss, paths) for loss in losses),
    )


def _parents(model: str, board: Board) -> dict[str, tuple[str, ...]]:
    """By task of an evolved set; in other disciplines there are none, and no file is read for them."""
    if board.plan.discipline != Discipline.EVOLVED:
        return {}
    return {task.task_id: task.parents for file in board.files[model] for task in file.tasks}


def _losses(kept: KeptBoard, row: int) -> list[_Loss]:
    """The tasks that say the most."""
    found = [
        _Loss(one, int(place), row)
        for one in kept.suites
        for place in np.argsort(-one.gaps[row], kind="stable")[:LISTED]
        if one.gaps[row, place] > 0
    ]
    return sorted(found, key=lambda loss: (-loss.gap, loss.task))[:LISTED]


def _text(model: str, board: Board, kept: KeptBoard, row: int) -> Iterator[str]:
    own, others = _beside(kept.means, row)
    if np.isnan(own):
        return
    if board.plan.discipline == Discipline.EVOLVED:
        yield (
            f"Of the changed problems whose seeds it solves, it solves {100 * own:.0f} %;"
            f" the other models {100 * others:.0f} % of theirs."
        )
        yield from _worst_set(kept, row)
    elif board.plan.discipline == Discipline.RUNTIME:
        yield from _weakest_question(model, board)
    else:
        rounds = "translations" if board.plan.discipline == Discipline.TRANSLATION else "loops"
        yield (
            f"A task that it solves at first lasts {own:.1f} of {kept.suites[0].most:.0f} {rounds}"
            f" on average; with the other models {others:.1f}."
        )
    yield from _endings(model, board, kept, row)


def _beside(means: Array, row: int) -> tuple[float, float]:
    """A model's mean, and the mean of those of the others."""
    return float(means[row]), float(mean(np.delete(means, row)))


def _worst_set(kept: KeptBoard, row: int) -> Iterator[str]:
    """Where it lies furthest behind the others."""
    pairs = [(one, *_beside(one.means, row)) for one in kept.suites]
    known = [pair for pair in pairs if pair[2] - pair[1] > 0]
    if known:
        one, own, others = max(known, key=lambda pair: pair[2] - pair[1])
        name = set_title(one.suite.partition("/")[2].removeprefix("core-"))
        yield f"Furthest behind: {name}, {100 * own:.0f} % against {100 * others:.0f} %."


def _weakest_question(model: str, board: Board) -> Iterator[str]:
    """Its place in each question; the worst one first."""
    scores = [
        (column.column.title, score)
        for column in question_columns(board)
        if (score := column.scores.get(model)) and score.rank
    ]
    scores.sort(key=lambda one: -one[1].rank.rank if one[1].rank else 0)
    if scores:
        listed = ", ".join(f"{title} {_format.rank(score.rank)}" for title, score in scores)
        yield (
            f"Rank in each question, the weakest first: {listed}. A chain of answers counts up to its first"
            " wrong one."
        )


def _endings(model: str, board: Board, kept: KeptBoard, row: int) -> Iterator[str]:
    """How what it lost ended; in the runtime discipline an answer is right or wrong."""
    if board.plan.discipline == Discipline.RUNTIME:
        return
    lost = {one.tasks[place] for one in kept.suites for place in np.flatnonzero(one.values[row] < one.most)}
    ends = Counter(
        task.outcome
        for file in board.files[model]
        for task in file.tasks
        if task.outcome != "passed" and task.task_id in lost
    )
    if ends:
        listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in ends.most_common())
        yield f"How the tasks that it loses end: {listed}."


def _example(board: Board, loss: _Loss, paths: Mapping[str, Mapping[str, str]]) -> Example:
    own = loss.kept.values[loss.row, loss.place]
    others, kept = loss.kept.counts[loss.place] - 1, loss.kept.totals[loss.place] - own
    if board.plan.discipline == Discipline.EVOLVED:
        note = f"not solved, its seed is; {kept:.0f} of {others:.0f} others with the seed solve it"
    elif board.plan.discipline == Discipline.RUNTIME:
        note = f"IC {own:.0f}; the others {kept / others:.0f} on average"
    else:
        note = (
            f"lasts {own:.0f} of {loss.kept.most:.0f}; with the {others:.0f} others that solve it"
            f" {kept / others:.1f} on average"
        )
    return Example(loss.task, note, paths[loss.kept.suite].get(loss.task, ""))


def _paths(model: str, board: Board, losses: Sequence[_Loss]) -> dict[str, dict[str, str]]:
    """By suite and task: the evidence of its first unit that is not right."""
    suites = {loss.kept.suite for loss in losses}
    files = [file for file in board.files[model] if file.suite in suites]
    return {file.suite: read_addresses(file.extracts.read(ATTEMPTS)) for file in files}
