"""The usual questions, answered without a script: who is on the frontier, in a sentence and a table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import pandas as pd

from triathlon_site.frontier import not_told_apart
from triathlon_site.pages.choose._scores import (
    PRICE,
    SIZE,
    Candidate,
    ChoiceCost,
    ChoiceScore,
    ScoredModels,
)

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
    """One model of a frontier, as the page shows it."""

    name: str
    page: str
    """From the site's root."""
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
    rows: list[FrontierRow]

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
"""The cost and the group of models in each usual question; all are of models that can be used."""


def questions(scored: ScoredModels) -> list[Question]:
    """The usual questions about one score, without those that fewer than FEWEST models could answer."""
    asked = [
        (scored, cost, group, scored.frontier(cost, lambda one, group=group: _fits(one, group)))  # type: ignore[misc]
        for cost, group in USUAL
    ]
    return [_question(*question) for question in asked if len(question[-1]) >= FEWEST]


def _fits(model: Candidate, group: Group) -> bool:
    return model.usable is True and model.mostly_ran and group.holds(model)


def _question(scored: ScoredModels, cost: ChoiceCost, group: Group, frontier: pd.DataFrame) -> Question:
    """The frontier by cost; in one sentence, which model of those that tie with the best costs least."""
    score, best = scored.score, int(frontier["value"].to_numpy().argmax())
    rivals = not_told_apart(scored.draws[:, frontier.index], best)
    shown = frontier.assign(rival=rivals).sort_values("cost", kind="stable")
    listed = shown[shown["undominated"] | (shown["frontier_share"] >= LEAST_SHARE)]
    fields = (listed[name] for name in ("model", "page", "cost", "shown", "frontier_share"))
    rows = [
        FrontierRow(name, page, cost_text(cost, value), text, share)
        for name, page, value, text, share in zip(*fields, strict=True)
    ]
    tied = shown[shown["rival"] | (shown.index == frontier.index[best])]
    cheapest = tied[tied["cost"] == tied["cost"].min()]
    paid = cost_text(cost, cheapest["cost"].iloc[0]) + (" each" if len(cheapest) > 1 else "")
    first, shown_best = frontier["model"].iloc[best], frontier["shown"].iloc[best]
    take = f"Take {_listed(list(cheapest['model']), 'or')} ({paid}):"
    highest = (
        f"of {len(frontier)} usable {group.words} with a known {cost.noun} it scores highest in {score.short}"
    )
    if len(tied) == 1:
        rest = f"{highest}, {shown_best}, and no other comes close enough to doubt it."
    elif list(cheapest["model"]) == [first]:
        rest = f"{highest}, {shown_best}, and is the {cost.least} of the {len(tied)} that tie with it."
    else:
        rest = (
            f"the {cost.least} of the {len(tied)} usable {group.words} that cannot be told from the best in"
            f" {score.short}, {first} with {shown_best}."
        )
    return Question(score, cost, group, f"{take} {rest}", rows)


def cost_text(cost: ChoiceCost, value: float) -> str:
    """`$1.5 / M`, `7 B`, `2024-11`: three digits, no exponent."""
    text = (
        f"{int(value) // 12}-{int(value) % 12 + 1:02d}"
        if cost.id == "released"
        else f"{float(f'{value:.3g}'):.12g}"
    )
    return cost.unit.format(text)


def _listed(names: Sequence[str], word: str) -> str:
    """`A, B or 4 others`."""
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} {word} {len(names) - NAMED} others"
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
