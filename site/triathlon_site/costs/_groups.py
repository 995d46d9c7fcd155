"""Rows of one model with different effort or token budgets: `group` in models.yaml."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from triathlon_runner.metrics import Metric
from triathlon_runner.records import Outcome
from triathlon_site.costs._run_cost import RunCost, run_cost
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.scores import Board, Score


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One row of the group on one board."""

    info: ModelInfo
    score: Score
    cost: RunCost
    tokens: float
    """Output tokens a unit."""
    rise: float | None
    """How much the score could rise at most with more tokens; None where no reply was cut."""


@dataclass(frozen=True, slots=True)
class GroupBoard:
    """The rows of a group on one board, by their tokens."""

    board: Board
    members: tuple[GroupMember, ...]

    @property
    def has_bounds(self) -> bool:
        """Whether it is known of a row how far its score could rise with more tokens."""
        return any(member.rise for member in self.members)


def group_boards(
    info: ModelInfo, boards: Sequence[Board], models: Mapping[str, ModelInfo]
) -> Iterator[GroupBoard]:
    """The boards on which two rows or more of the model's group have a score and known tokens."""
    if info.group is None:
        return
    for board in boards:
        members = []
        for model in board.models:
            score, cost = board.headline.scores.get(model), run_cost(_files(board, model))
            if models[model].group == info.group and score and cost.output_tokens is not None:
                rise = most_of_headline(board, model)
                members.append(GroupMember(models[model], score, cost, cost.output_tokens, rise))
        if len(members) > 1:
            yield GroupBoard(board, tuple(sorted(members, key=lambda row: (row.tokens, row.info.name))))


def most_of_headline(board: Board, model: str) -> float | None:
    """How much the model's headline score could rise at most if no reply had been cut.

    In a mean over suites, the mean of their bounds. None where no reply was cut, or a suite with cut replies
    has a score that is no mean over units.
    """
    total, files = 0.0, _files(board, model)
    metrics = dict(board.headline.column.parts)
    for file in files:
        if not file.cut_replies:
            continue
        rise = most_with_more_tokens(file, metrics[file.suite])
        if rise is None:
            return None
        total += rise
    return total / len(files) if total else None


def most_with_more_tokens(file: FileAggregate, metric: Metric) -> float | None:
    """The most that the score could rise, on the metric's scale, if every unit with a cut reply were perfect.

    None where nothing was cut, replies are not known, or the score is not the mean over its units, so that
    units cannot be graded one by one.
    """
    frame = file.frame
    if not file.cut_replies:
        return None
    values = frame[metric.id].to_numpy(float)
    parts = file.metrics[metric.id]
    score = metric.scale * parts.numerators.sum() / parts.denominators.sum()
    if np.isnan(values).any() or not np.isclose(values.mean(), score):
        return None
    cut = (frame["cut_replies"] > 0).to_numpy() & (frame["outcome"] != Outcome.PASSED.value).to_numpy()
    return float((metric.maximum - values[cut]).sum() / len(values))


def _files(board: Board, model: str) -> list[FileAggregate]:
    """Those that the headline comes from."""
    suites = {suite for suite, _ in board.headline.column.parts}
    return [file for file in board.files[model] if file.suite in suites]
