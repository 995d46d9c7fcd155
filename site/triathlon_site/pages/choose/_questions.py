"""The usual questions, answered without a script: who is on the frontier, in a sentence and a table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import numpy as np

from triathlon_site.frontier import not_told_apart
from triathlon_site.pages.choose._scores import (
    INDEX,
    PRICE,
    SIZE,
    Candidate,
    ChoiceCost,
    ChoiceScore,
    Frontier,
    ScoredModels,
    frontier_of,
)
from triathlon_site.render import formats

LEAST_SHARE: Final = 0.05
"""Models with a smaller share are not listed, unless they are on the frontier by their scores."""
FEWEST: Final = 5
"""Models below which a question is left out: there is nothing to choose from."""
NAMED: Final = 3
"""Models that a sentence names before it counts the others."""


@dataclass(frozen=True, slots=True)
class Group:
    """Models that a visitor asks about together."""

    words: str
    """Words for them in a sentence: `open models under 10 B`; `models` for all."""
    filters: tuple[tuple[str, str], ...]
    """Names and values in the address of the page."""
    holds: Callable[[Candidate], bool]


@dataclass(frozen=True, slots=True)
class FrontierRow:
    """One model of a frontier."""

    model: Candidate
    cost: str
    score: str
    """With its interval."""
    share: float
    """Part of the draws in which it is on the frontier."""

    @property
    def percent(self) -> str:
        """The share in whole per cent; halves go up, as in the page's script."""
        return f"{math.floor(100 * self.share + 0.5)} %"


@dataclass(frozen=True, slots=True)
class Question:
    """One frontier with the sentence that sums it up."""

    score: ChoiceScore
    cost: ChoiceCost
    group: Group
    sentence: str
    rows: tuple[FrontierRow, ...]

    @property
    def address(self) -> str:
        """The view of the page that shows it."""
        names = {"score": self.score.id, "cost": self.cost.id, **dict(self.group.filters)}
        return f"choose.html?{urlencode(names)}"


def _open(model: Candidate) -> bool:
    return model.openness == "open"


def _small(model: Candidate) -> bool:
    return _open(model) and model.costs.get(SIZE.id, 10) < 10


USUAL: Final = (
    (PRICE, Group("models", (), lambda _: True)),
    (SIZE, Group("open models", (("open", "open"),), _open)),
    (SIZE, Group("open models under 10 B", (("open", "open"), ("size", "10")), _small)),
)
"""The cost and the group of models in each usual question about a score."""
ASKED: Final = (INDEX, "loop", "runtime_output", "evolved")
"""Scores that the usual questions are about."""


def questions(scores: Sequence[ScoredModels]) -> list[Question]:
    """The usual questions about each score, without those that fewer than FEWEST models could answer."""
    return [
        _question(frontier, cost, group)
        for scored in scores
        if scored.score.id in ASKED
        for cost, group in USUAL
        if (frontier := frontier_of(scored, cost, group.holds)) and len(frontier.costs) >= FEWEST
    ]


def _question(frontier: Frontier, cost: ChoiceCost, group: Group) -> Question:
    scored, costs, shares = frontier.scored, frontier.costs, frontier.shares
    rows = tuple(
        FrontierRow(scored.models[row], cost_text(cost, costs[row]), _score(scored, row), float(shares[row]))
        for row in np.argsort(costs, kind="stable")
        if frontier.undominated[row] or shares[row] >= LEAST_SHARE
    )
    return Question(scored.score, cost, group, _sentence(frontier, cost, group.words), rows)


def _sentence(frontier: Frontier, cost: ChoiceCost, words: str) -> str:
    """Who scores best, who cannot be told from it, and which of these cost least."""
    models, costs = frontier.scored, frontier.costs
    names = [model.name for model in models.models]
    best = int(np.argmax(models.values))
    rivals = not_told_apart(models.draws, best)
    alike = [row for row in np.argsort(costs, kind="stable") if rivals[row] and row != best]
    text = (
        f"Of {len(names)} {words} with a known {cost.noun}, {names[best]} scores highest in"
        f" {models.score.short}: {_score(models, best)}."
    )
    if not alike:
        return f"{text} No other comes close enough to doubt it."
    lowest = costs[[*alike, best]].min()
    first = [names[row] for row in [*alike, best] if costs[row] == lowest]
    paid = cost_text(cost, lowest)
    least = f"is {first[0]} ({paid})" if len(first) == 1 else f"are {_listed(first)} ({paid} each)"
    alike_names = _listed([names[row] for row in alike])
    return f"{text} {alike_names} cannot be told from it; the {cost.least} of these {least}."


def _score(models: ScoredModels, row: int) -> str:
    """A score with its interval, as the page shows it."""
    ends = models.intervals[row]
    value, low, high = (
        f"{x:.0f}" if models.score.id == INDEX else formats.score(x, models.score.maximum)
        for x in (models.values[row], ends.low, ends.high)
    )
    return f"{value} ({low}–{high})"


def cost_text(cost: ChoiceCost, value: float) -> str:
    """`$1.5 / M`, `7 B`, `2024-11`: three digits, no exponent."""
    text = (
        f"{int(value) // 12}-{int(value) % 12 + 1:02d}"
        if cost.id == "released"
        else f"{float(f'{value:.3g}'):.12g}"
    )
    return cost.unit.format(text)


def _listed(names: Sequence[str]) -> str:
    """`A, B and 4 others`."""
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
