"""The usual questions, answered without a script: who is on the frontier, in a sentence and a table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from triathlon_site.frontier import frontier_shares, not_told_apart, undominated
from triathlon_site.pages.choose._candidates import Candidate
from triathlon_site.pages.choose._scores import (
    INDEX,
    PRICE,
    SIZE,
    ChoiceCost,
    ChoiceScore,
    ScoredModels,
    select,
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


ALL: Final = Group("models", (), lambda _: True)
OPEN: Final = Group("open models", (("open", "open"),), _open)
SMALL: Final = Group("open models under 10 B", (("open", "open"), ("size", "10")), _small)
USUAL: Final = ((PRICE, ALL), (SIZE, OPEN), (SIZE, SMALL))
"""The cost and the group of models in each usual question about a score."""
ASKED: Final = (INDEX, "loop", "runtime_output", "evolved")
"""Scores that the usual questions are about."""


def questions(scores: Sequence[ScoredModels]) -> list[Question]:
    """The usual questions about each score, without those that fewer than FEWEST models could answer."""
    asked = [scored for scored in scores if scored.score.id in ASKED]
    possible = (ask(scored, cost, group) for scored in asked for cost, group in USUAL)
    return [question for question in possible if question is not None]


def ask(scored: ScoredModels, cost: ChoiceCost, group: Group) -> Question | None:
    """One frontier: of the models of a group whose cost is known; None where they are fewer than FEWEST."""
    known = [row for row, model in enumerate(scored.models) if group.holds(model) and cost.id in model.costs]
    if len(known) < FEWEST:
        return None
    asked = select(scored, known)
    costs = np.array([model.costs[cost.id] for model in asked.models])
    shares = frontier_shares(asked.draws, costs)
    on_frontier = undominated(asked.values, costs)
    rows = tuple(
        FrontierRow(
            asked.models[row],
            cost_text(cost, costs[row]),
            f"{number(asked.score, asked.values[row])} ({span(asked, row)})",
            float(shares[row]),
        )
        for row in np.argsort(costs, kind="stable")
        if on_frontier[row] or shares[row] >= LEAST_SHARE
    )
    return Question(asked.score, cost, group, sentence(asked, cost, costs, group.words), rows)


def sentence(models: ScoredModels, cost: ChoiceCost, costs: NDArray[np.float64], words: str) -> str:
    """Who scores best, who cannot be told from it, and which of these cost least."""
    names = [model.name for model in models.models]
    best = int(np.argmax(models.values))
    rivals = not_told_apart(models.draws, best)
    alike = [row for row in np.argsort(costs, kind="stable") if rivals[row] and row != best]
    text = (
        f"Of {len(names)} {words} with a known {cost.noun}, {names[best]} scores highest in"
        f" {models.score.short}: {number(models.score, models.values[best])} ({span(models, best)})."
    )
    if not alike:
        return f"{text} No other comes close enough to doubt it."
    rivals_text = f"{_listed([names[row] for row in alike])} cannot be told from it"
    return f"{text} {rivals_text}; {_least(cost, names, costs, [*alike, best])}."


def _least(cost: ChoiceCost, names: Sequence[str], costs: NDArray[np.float64], rows: Sequence[int]) -> str:
    """`the cheapest of these is A ($1 / M)`; of equal ones, all of them."""
    lowest = min(costs[row] for row in rows)
    first = [names[row] for row in rows if costs[row] == lowest]
    text = cost_text(cost, lowest)
    if len(first) == 1:
        return f"the {cost.least} of these is {first[0]} ({text})"
    return f"the {cost.least} of these are {_listed(first)} ({text} each)"


def number(score: ChoiceScore, value: float) -> str:
    """A score as the page shows it."""
    return f"{value:.0f}" if score.id == INDEX else formats.score(value, score.maximum)


def span(models: ScoredModels, row: int) -> str:
    """The interval of a score as the page shows it."""
    interval = models.intervals[row]
    return f"{number(models.score, interval.low)}–{number(models.score, interval.high)}"


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
