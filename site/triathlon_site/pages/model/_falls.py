"""Why a model falls: the boards where it ranks lower than by plain pass@1, and the tasks lost there."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_site.evidence import ATTEMPTS, read_attempts
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board import BoardRetention, view_of
from triathlon_site.ranking import RankShift
from triathlon_site.render import formats
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
