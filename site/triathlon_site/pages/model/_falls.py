"""Why a model falls: the boards where it ranks lower than by plain pass@1, and the tasks lost there."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_site.evidence import ATTEMPTS, read_addresses
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board import BoardRetention, board_retention, view_of
from triathlon_site.ranking import RankShift
from triathlon_site.scores import Board, Score

LISTED: Final = 5
"""Tasks that are named: those with the largest gaps."""


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
    text: tuple[str, ...]
    """The model's losses, in sentences."""
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class SteepestFall:
    """The largest significant fall of a model."""

    model: str
    board: Board
    places: int


def falls_of(info: ModelInfo, boards: Sequence[Board]) -> Iterator[Fall]:
    """The boards that rank a model below its rank by plain pass@1; significant falls first."""
    falls = [
        (board, score, score.shift)
        for board in boards
        if (score := board.headline.scores.get(info.id)) and score.shift and score.shift.shift < 0
    ]
    for board, score, shift in sorted(falls, key=lambda fall: not fall[2].significant):
        yield _fall(info.id, board, score, shift)


def steepest(boards: Sequence[Board]) -> SteepestFall | None:
    """The largest significant fall on these boards; None where there is none."""
    falls = [
        (score.shift.shift, place, model)
        for place, board in enumerate(boards)
        for model, score in board.headline.scores.items()
        if score.shift and score.shift.significant and score.shift.shift < 0
    ]
    if not falls:
        return None
    shift, place, model = min(falls)
    return SteepestFall(model, boards[place], -shift)


def retention_on(board: Board, parents: Mapping[str, Sequence[str]]) -> BoardRetention:
    """The retention of every model on a board, given the parents of each of its tasks."""
    suites = list(view_of(board).retentions(board, parents))
    return board_retention(board.headline.samples[0].models, suites)


def _fall(model: str, board: Board, score: Score, shift: RankShift) -> Fall:
    retention = retention_on(board, _parents(model, board))
    text, examples = _text(model, board, retention), _examples(model, board, retention)
    return Fall(board, score, shift, tuple(text), tuple(examples))


def _parents(model: str, board: Board) -> dict[str, tuple[str, ...]]:
    """The parents of each task that the model ran; empty in disciplines whose tasks have none."""
    if not view_of(board).has_parents:
        return {}
    return {task.task_id: task.parents for file in board.files[model] for task in file.tasks}


def _text(model: str, board: Board, retention: BoardRetention) -> Iterator[str]:
    row = retention.models.index(model)
    if not np.isnan(retention.means[row]):
        view = view_of(board)
        yield from view.losses(model, board, retention)
        if view.names_endings:
            yield from _endings(model, board, retention, row)


def _endings(model: str, board: Board, retention: BoardRetention, row: int) -> Iterator[str]:
    """How the tasks that the model lost ended."""
    lost = {
        suite.tasks[place]
        for suite in retention.suites
        for place in np.flatnonzero(suite.values[row] < suite.most)
    }
    outcomes = Counter(
        str(task.outcome)
        for file in board.files[model]
        for task in file.tasks
        if task.outcome != "passed" and task.task_id in lost
    )
    if outcomes:
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in outcomes.most_common())
        yield f"How the tasks that it loses end: {counts}."


def _examples(model: str, board: Board, retention: BoardRetention) -> Iterator[Example]:
    """The tasks with the largest gaps to the other models, with the evidence of the model's units."""
    row = retention.models.index(model)
    losses = [
        (float(suite.gaps[row, place]), suite.tasks[place], int(place), suite)
        for suite in retention.suites
        for place in np.argsort(-suite.gaps[row], kind="stable")[:LISTED]
        if suite.gaps[row, place] > 0
    ]
    losses = sorted(losses, key=lambda loss: (-loss[0], loss[1]))[:LISTED]
    suites = {suite.suite for *_, suite in losses}
    files = [file for file in board.files[model] if file.suite in suites]
    addresses = {file.suite: read_addresses(file.extracts.read(ATTEMPTS)) for file in files}
    for _, task, place, suite in losses:
        value = float(suite.values[row, place])
        rivals, total = float(suite.counts[place] - 1), float(suite.totals[place] - value)
        note = view_of(board).loss_note(value, total, rivals, suite.most)
        yield Example(task, note, addresses[suite.suite].get(task, ""))
