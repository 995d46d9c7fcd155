"""What runs cost and how fast they were: money, tokens, speed, replies cut at the token limit."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from triathlon_runner.metrics import Metric
from triathlon_runner.records import Outcome
from triathlon_site.load import FileAggregate
from triathlon_site.models import Models
from triathlon_site.scores import Board

LEAST_RAN: Final = 0.7
"""Below this share of programs that ran a model has a flag, and no chart puts it forward."""
_ASK_FOR_PROGRAMS: Final = ("loop/", "evolved/")


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one model took on some suites; each field is None where it is not known."""

    cost_usd: float | None
    """At the model's price today."""
    cost_usd_per_solved: float | None
    """For each unit that ended as passed; None where none did."""
    output_tokens_per_unit: float | None
    """A unit."""
    reasoning_tokens_per_unit: float | None
    """A unit; part of the output tokens, where the server names it."""
    cut_replies_share: float | None
    """Of the replies, those that ended at the token limit, 0 to 1."""


def run_cost(files: Sequence[FileAggregate], price: tuple[float, float] | None) -> RunCost:
    """Sums up the lines of one model's files, at a price of input and output in USD a million tokens.

    Nothing that only a manifest says counts.
    """
    units = sum(file.units for file in files)
    costs = [file.usd(price) for file in files]
    known_costs = [cost for cost in costs if cost is not None]
    usd = sum(known_costs) if costs and len(known_costs) == len(costs) else None
    passed = sum(file.outcomes.get(Outcome.PASSED.value, 0) for file in files)
    usages = [file.usage for file in files]
    counted = units and all(usage.requests and not usage.uncounted for usage in usages)
    output = sum(usage.output_tokens for usage in usages)
    reasoning = sum(usage.reasoning_tokens for usage in usages)
    replies, cut = sum(file.replies for file in files), sum(file.cut_replies for file in files)
    return RunCost(
        cost_usd=usd,
        cost_usd_per_solved=usd / passed if usd is not None and passed else None,
        output_tokens_per_unit=output / units if counted else None,
        reasoning_tokens_per_unit=reasoning / units if counted else None,
        cut_replies_share=cut / replies if replies else None,
    )


def share_that_ran(files: Sequence[FileAggregate]) -> float | None:
    """Of the first replies that had to be programs, the share that were and ran, 0 to 1; None without any.

    Variants of suites do not count.
    """
    units = ran = 0
    for file in files:
        if file.suite.startswith(_ASK_FOR_PROGRAMS) and "@" not in file.suite:
            units += file.units
            ran += file.ran
    return ran / units if units else None


def mostly_ran(share: float | None) -> bool:
    """Whether scores are of a model's skill, not of replies in a form that nothing could run."""
    return share is None or share >= LEAST_RAN


def solved_costs(
    boards: Sequence[Board], models: Models, ids: Collection[str]
) -> tuple[Board | None, dict[str, float]]:
    """What a solved task cost, in dollars, by id of each known model: on one board alone, that of these
    ids on which it is known of most models with a whole score, because other tasks cost other sums.
    """
    best: tuple[Board | None, dict[str, float]] = None, {}
    for board in (board for board in boards if board.plan.id in ids):
        costs = {}
        for info in (models[model] for model in board.headline.scores):
            if cost := run_cost(board.files[info.id], info.price).cost_usd_per_solved:
                costs[info.id] = cost
        if len(costs) > len(best[1]):
            best = board, costs
    return best


def most_of_headline(board: Board, model: str) -> float | None:
    """How much the model's headline score could rise at most if no reply had been cut.

    In a mean over suites, the mean of their bounds. None where no reply was cut, or a suite with cut replies
    has a score that is no mean over units.
    """
    metrics = dict(board.headline.column.parts)
    files = [file for file in board.files[model] if file.suite in metrics]
    rises = [most_with_more_tokens(file, metrics[file.suite]) for file in files if file.cut_replies]
    known = [rise for rise in rises if rise is not None]
    return sum(known) / len(files) if len(known) == len(rises) and any(known) else None


def most_with_more_tokens(file: FileAggregate, metric: Metric) -> float | None:
    """The most that the score could rise, on the metric's scale, if every unit with a cut reply were perfect.

    None where nothing was cut, replies are not known, or the score is not the mean over its units, so that
    units cannot be graded one by one.
    """
    if not file.cut_replies:
        return None
    values, outcomes = file.columns.scores[metric.id], np.array(file.columns.outcome)
    if np.isnan(values).any() or not np.isclose(values.mean(), file.metrics[metric.id].score(metric)):
        return None
    cut = (file.columns.cut_replies > 0) & (outcomes != Outcome.PASSED.value)
    return float((metric.maximum - values[cut]).sum() / len(values))
