"""Why a model falls: where it stands lower than by plain pass@1, what it loses there, and on which tasks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_runner.records import Discipline
from triathlon_site.evidence import ATTEMPTS, read_attempts
from triathlon_site.pages import _format
from triathlon_site.pages._figures import question_columns
from triathlon_site.pages._kept import Kept, kept_of, mean
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._page import board_page
from triathlon_site.ranking import RankShift
from triathlon_site.scores import Board, Score, set_title

LISTED: Final = 5
"""Tasks that say the most."""
FEWEST: Final = 2
"""Other models without which a task says nothing."""


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
    """A task, by how much more of it the others keep."""

    kept: Kept
    place: int
    gap: float


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
    kept = list(kept_of(board, _parents(info.id, board)))
    losses = sorted(_losses(info.id, kept), key=lambda loss: (-loss.gap, loss.kept.tasks[loss.place]))
    paths = _paths(info.id, board)
    return Fall(
        board,
        board_page(board),
        score,
        shift,
        board.baseline or "plain pass@1",
        tuple(_text(info.id, board, kept)),
        tuple(_example(info.id, board, loss, paths) for loss in losses[:LISTED]),
    )


def _parents(model: str, board: Board) -> dict[str, tuple[str, ...]]:
    """By task of an evolved set; in other disciplines there are none, and no file is read for them."""
    if board.plan.discipline != Discipline.EVOLVED:
        return {}
    return {task.task_id: task.parents for file in board.files[model] for task in file.tasks}


def _losses(model: str, kept: Sequence[Kept]) -> Iterator[_Loss]:
    for one in kept:
        others = one.others(model)
        enough = np.count_nonzero(~np.isnan(others), axis=0) >= FEWEST
        gaps = (mean(others, axis=0) - one.own(model)) / one.most
        for place in np.flatnonzero(enough & (np.nan_to_num(gaps) > 0)):
            yield _Loss(one, int(place), float(gaps[place]))


def _text(model: str, board: Board, kept: Sequence[Kept]) -> Iterator[str]:
    own = float(mean(np.concatenate([one.own(model) for one in kept]))) if kept else np.nan
    if np.isnan(own):
        return
    rows = np.hstack([one.others(model) for one in kept])
    others = float(mean(mean(rows, axis=1)))
    if board.plan.discipline == Discipline.EVOLVED:
        yield (
            f"Of the changed problems whose seeds it solves, it solves {100 * own:.0f} %;"
            f" the other models {100 * others:.0f} % of theirs."
        )
        yield from _worst_set(model, kept)
    elif board.plan.discipline == Discipline.RUNTIME:
        yield from _weakest_question(model, board)
    else:
        rounds = "translations" if board.plan.discipline == Discipline.TRANSLATION else "loops"
        yield (
            f"A task that it solves lasts {own:.1f} of {kept[0].most:.0f} {rounds} on average;"
            f" with the other models {others:.1f}."
        )
    yield from _endings(model, board, kept)


def _worst_set(model: str, kept: Sequence[Kept]) -> Iterator[str]:
    """Where it lies furthest behind the others."""
    pairs = [(one, float(mean(one.own(model))), float(mean(mean(one.others(model), axis=1)))) for one in kept]
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


def _endings(model: str, board: Board, kept: Sequence[Kept]) -> Iterator[str]:
    """How what it lost ended; in the runtime discipline an answer is right or wrong."""
    if board.plan.discipline == Discipline.RUNTIME:
        return
    lost = {
        task
        for one in kept
        for task, value in zip(one.tasks, one.own(model), strict=True)
        if value < one.most
    }
    ends = Counter(
        unit.outcome
        for file in board.files[model]
        for unit in file.tasks
        if unit.task_id in lost and unit.outcome != "passed"
    )
    if ends:
        listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in ends.most_common())
        yield f"What it loses ends so: {listed}."


def _example(model: str, board: Board, loss: _Loss, paths: Mapping[tuple[str, str], str]) -> Example:
    task = loss.kept.tasks[loss.place]
    own = loss.kept.own(model)[loss.place]
    others = loss.kept.others(model)[:, loss.place]
    known = others[~np.isnan(others)]
    if board.plan.discipline == Discipline.EVOLVED:
        note = f"not solved, its seed is; {int(known.sum())} of {len(known)} others with the seed solve it"
    elif board.plan.discipline == Discipline.RUNTIME:
        note = f"IC {own:.0f}; the others {known.mean():.0f} on average"
    else:
        note = (
            f"lasts {own:.0f} of {loss.kept.most:.0f}; with the {len(known)} others that solve it"
            f" {known.mean():.1f} on average"
        )
    return Example(task, note, paths.get((loss.kept.suite, task), ""))


def _paths(model: str, board: Board) -> dict[tuple[str, str], str]:
    """By suite and task: the evidence of its first unit that is not right."""
    return {
        (file.suite, task): address
        for file in board.files[model]
        for task, _, address in read_attempts(file.extracts.read(ATTEMPTS))
    }
