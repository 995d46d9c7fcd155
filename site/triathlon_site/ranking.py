"""Ranks with ties, rank intervals, tiers, the order over all disciplines; the frontier of score and cost.

A model is dominated where another one costs no more, scores no less, and is better in one of the two
(Pareto's order). Scores are uncertain: joint draws of all of them say which models cannot be told apart.
Costs are taken as known.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, NamedTuple, Optional

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from triathlon_site.uncertainty import (
    DIGITS,
    LEVEL,
    Difference,
    Draws,
    Interval,
    Sample,
    Z,
    generator,
    independent_difference,
    paired_p_values,
)

Array = NDArray[np.float64]
Places = NDArray[np.int32]
"""draws × models: the rank of each model within each draw."""
SIGNIFICANCE: Final = 0.05
FEWEST_RANKED: Final = 5
"""Models below which pages say an order, but no rank, tier, percentile or shift."""
MEASURED: Final = "measured"
"""Grade of what this program asked and graded; others' replies, graded by our engine, are `RECORDED`."""
REPORTED: Final = "reported"
"""Grade of published figures."""
OTHER_PROTOCOL: Final = "asked or graded under another protocol than those that are ranked"
UNITS_ARE_OPEN: Final = "not ranked while units are open"
APART_MARKS: Final = {OTHER_PROTOCOL: "≠", UNITS_ARE_OPEN: "…"}
"""How a table marks a score that is in no ranking, by the reason."""
FAR: Final = 10
"""Places from which on a shift is called far (EVALOOOP, section 4.2)."""


class DrawnRanks(NamedTuple):
    """The ranks within each draw, draws × models; two numbers where scores are only known as ranges."""

    best: Places
    """The model's upper end against the lower ends of the others."""
    worst: Places
    """The model's lower end against the upper ends of the others; the same object as `best` where no score is
    a range."""


@dataclass(frozen=True, slots=True)
class Rank:
    """1 is best.

    `low`: one more than the number of models that are better for sure; `high`: all but those that are worse
    for sure.
    """

    rank: int
    tied: bool
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class RankShift:
    """Rank by a baseline minus rank by this column; positive: rises."""

    shift: int
    significant: bool
    """True where the central 95 % of the drawn shifts leave out zero, on the side of the shift."""
    models: int = 0
    """Among how many models: those that have both scores."""

    @property
    def told(self) -> bool:
        """Whether it is among enough models to be said."""
        return self.models >= FEWEST_RANKED


@dataclass(frozen=True, slots=True)
class Score:
    """One model in one column, of any grade: measured, recorded or reported."""

    value: float
    interval: Interval
    """Not known of a reported figure whose number of tasks is not known."""
    tasks: int = 0
    """0 of a reported figure."""
    rank: Rank | None = None
    """None in columns that are not ranked; `low` and `high` equal the rank where the spread of a reported
    figure is not known."""
    tier: int | None = None
    shift: RankShift | None = None
    upper: float | None = None
    """The upper end where the score is only known as a range; `value` is the lower end."""
    grade: str = MEASURED
    """`recorded` where a file that it comes from is."""
    judged_again: bool = False
    """Whether every file behind it was measured and graded again here, as for submitted results."""
    apart: str = ""
    """Why it is in no ranking, tier or test (`OTHER_PROTOCOL`, `UNITS_ARE_OPEN`); empty where it is."""
    maximum: float = 1.0
    link: str = ""
    """Path from the site's root, of the receipt or of the table that the figure was copied from; empty in a
    cell without a mark of its grade."""
    date: str = ""
    note: str = ""
    """Grade, date and source in words: the title of that link."""
    source: str = ""
    """Title of the table that a reported figure was copied from."""
    text: str = ""
    """Of a reported figure: with the column's decimals, or those that it was published with where these are
    more."""
    deviation: float | None = None
    """Published standard deviation over repeats."""
    replaced: Optional["Score"] = None
    """The reported figure that is not shown because of this one."""
    whole: int = 0
    """Tasks of the suite, beside a paper's table."""

    @property
    def middle(self) -> float:
        """The one number of it: of a range its middle, so that a judge moves no model by itself."""
        return self.value if self.upper is None else round((self.value + self.upper) / 2, DIGITS)

    @property
    def mark(self) -> str:
        """Of a score that is in no ranking; empty where it is in one."""
        return APART_MARKS[self.apart] if self.apart else ""

    @property
    def share(self) -> float:
        """The middle as a share of the maximum."""
        return self.middle / self.maximum

    def scaled(self, maximum: float) -> "Score":
        """The same figure on a scale that ends at `maximum`."""
        times = maximum / self.maximum
        return replace(
            self,
            value=round(self.value * times, DIGITS),
            maximum=maximum,
            interval=Interval(self.interval.low * times, self.interval.high * times),
            deviation=None if self.deviation is None else self.deviation * times,
            upper=None if self.upper is None else self.upper * times,
        )

    def minus(self, reported: "Score") -> Difference:
        """Ours minus a reported figure: two runs of one model on the same tasks, not paired, because single
        outcomes are not published. Its interval is of both, or of ours alone where nothing is known of the
        other's.
        """
        other = reported.value, reported.interval
        return independent_difference(self.middle, self.interval, *other, self.tasks)


def smallest_ranks(scores: Sequence[float] | Array) -> list[int | None]:
    """Rank of each score, None for nan; ties share the smallest (EvoEval's rule). Scores come rounded."""
    places = pd.Series(scores, dtype=float).rank(method="min", ascending=False)
    return [None if np.isnan(place) else int(place) for place in places]


def drawn_ranks(draws: Draws, upper: Draws | None = None) -> DrawnRanks:
    """Ranks within each draw; `draws` are of the lower ends, where scores are only known as ranges."""
    if upper is None:  # models without a score share the last place and so take no other's
        ranked = pd.DataFrame(draws).rank(axis=1, method="min", ascending=False, na_option="bottom")
        places = ranked.to_numpy().astype(np.int32)
        return DrawnRanks(places, places)
    pairs = list(zip(draws, upper, strict=True))
    best = np.array([_ranks_against(low, high) for low, high in pairs], dtype=np.int32)
    worst = np.array([_ranks_against(high, low) for low, high in pairs], dtype=np.int32)
    return DrawnRanks(best.reshape(draws.shape), worst.reshape(draws.shape))


def _ranks_against(opponents: Array, scores: Array) -> NDArray[np.int64]:
    """1 + how many of the opponents are higher, for each score; a model without a score comes last."""
    known = np.sort(opponents[~np.isnan(opponents)])
    places = 1 + len(known) - np.searchsorted(known, scores, side="right")
    return np.where(np.isnan(scores), len(known) + 1, np.minimum(places, max(len(known), 1)))


def ranks_among(ranked: DrawnRanks, chosen: NDArray[np.bool_]) -> DrawnRanks:
    """The ranks where only the chosen models count; the others come last."""
    if chosen.all():
        return ranked
    high, low = (np.where(chosen, -places, np.nan) for places in ranked)
    return drawn_ranks(low, None if ranked.best is ranked.worst else high)


def ranks(scores: Array, better: NDArray[np.bool_]) -> list[Rank | None]:
    """The rank of each model, with its interval: the places that the comparisons with the others leave.

    It is the confidence set of Mogstad, Romano, Shaikh and Wilhelm (Review of Economic Studies 91, 2024,
    section 3) with each comparison at 5 %: over all models of a table together 95 % of the intervals hold the
    true rank, also where all are equal. (The quantiles of the ranks within draws hold 76 % there, with 40
    models, since the observed scores are further apart than the true ones.)

    Args:
        scores: nan where a model has none.
        better: models × models, whether the first is better than the second for sure.
    """
    observed = smallest_ranks(scores)
    count = len(observed) - observed.count(None)
    ends = (1 + better.sum(axis=0)).tolist(), (count - better.sum(axis=1)).tolist()
    shared = Counter(observed)
    return [
        None if rank is None else Rank(rank, shared[rank] > 1, min(rank, low), max(rank, high))
        for rank, low, high in zip(observed, *ends, strict=True)
    ]


def better_in_draws(low: Array, high: Array) -> NDArray[np.bool_]:
    """Models × models: whether 97.5 % of the draws have the first above the second, its `low` over `high`."""
    share = (1 + LEVEL) / 2
    return np.array([(low[:, [model]] > high).mean(axis=0) >= share for model in range(low.shape[1])])


def rank_shifts(
    scores: Array, ranked: DrawnRanks, baseline_scores: Array, baseline_ranked: DrawnRanks
) -> list[RankShift | None]:
    """Shift of each model from its baseline rank, both among the models that have both scores.

    The draws of both are made with the same weights: what moves both ranks does not count. Where a score is
    only known as a range, a rise needs the worst rank that it allows, a fall the best.
    """
    has_both = ~np.isnan(scores) & ~np.isnan(baseline_scores)
    new_ranks = smallest_ranks(np.where(has_both, scores, np.nan))
    old_ranks = smallest_ranks(np.where(has_both, baseline_scores, np.nan))
    models = int(has_both.sum())
    drawn, baseline = ranks_among(ranked, has_both), ranks_among(baseline_ranked, has_both)
    rises = (baseline.best > drawn.worst).mean(axis=0)
    falls = (baseline.worst < drawn.best).mean(axis=0)
    agree = np.where(np.array(old_ranks, float) > np.array(new_ranks, float), rises, falls)
    return [
        None
        if new is None or old is None
        else RankShift(old - new, old != new and bool(share >= (1 + LEVEL) / 2), models)
        for new, old, share in zip(new_ranks, old_ranks, agree, strict=True)
    ]


def shifts(
    scores: Mapping[str, float], baseline: Mapping[str, float], *, break_ties: bool = False
) -> dict[str, int]:
    """Rank by the baseline minus rank by the score, of the models that have both; positive: rises.

    `break_ties`: EVALOOOP's rule (table 2): a tie in one of the two is broken by the other, so that each
    model has a rank of its own. Otherwise ties share the smallest rank.
    """
    models = [model for model in scores if model in baseline]
    new, old = ([round(of[model], DIGITS) for model in models] for of in (scores, baseline))
    ties = (old, new) if break_ties else ([0.0] * len(models),) * 2
    keys = [list(zip(values, others, strict=True)) for values, others in zip((new, old), ties, strict=True)]
    best_first = [sorted(of_models, reverse=True) for of_models in keys]
    places = [[order.index(key) for key in of] for order, of in zip(best_first, keys, strict=True)]
    return {model: before - after for model, after, before in zip(models, *places, strict=True)}


@dataclass(frozen=True, slots=True)
class ShiftSummary:
    """How much one score orders models otherwise than its baseline does (EVALOOOP, section 4.2)."""

    models: int
    moved: int
    mean: float
    """Mean of the shifts without their signs."""
    far: float
    """Share of the models that move by FAR places or more."""
    lowest: int
    highest: int
    reversed_pairs: float
    """Share of all pairs of models that the two scores order the opposite way."""


def shift_summary(
    scores: Mapping[str, float], baseline: Mapping[str, float], *, break_ties: bool = False
) -> ShiftSummary | None:
    """The summary of `shifts`; None for fewer models than get a rank."""
    found = shifts(scores, baseline, break_ties=break_ties)
    if len(found) < FEWEST_RANKED:
        return None
    sizes = [abs(shift) for shift in found.values()]
    pairs = [
        (scores[one] - scores[other]) * (baseline[one] - baseline[other])
        for one, other in combinations(found, 2)
    ]
    return ShiftSummary(
        models=len(found),
        moved=sum(map(bool, sizes)),
        mean=sum(sizes) / len(sizes),
        far=sum(size >= FAR for size in sizes) / len(sizes),
        lowest=min(found.values()),
        highest=max(found.values()),
        reversed_pairs=sum(product < 0 for product in pairs) / len(pairs),
    )


def tiers(
    samples: Sequence[Sample], scores: Sequence[float] | NDArray[np.float64], upper: Sequence[Sample] = ()
) -> list[int | None]:
    """The tier of each model, from 1; None without a score.

    The best model leads tier 1. It is compared with every model below by the paired bootstrap; the first
    model that is significantly worse leads the next tier, and so on. Models of equal score are one place:
    they lead together, and go into the next tier together as soon as one of them is significantly worse than
    one of the leaders. A leader is the luckiest of its equals,
    so Bonferroni's correction counts every pair among the models from the leader down to the one compared:
    the leader's own pairs alone would split 24 equal models (80 tasks) in one table of five. Models further
    down do not count, so that a long list of weak models widens no tier above them.

    Args:
        samples: of one metric, rows in the order of the scores.
        scores: the mean over the samples.
        upper: where scores are only known as ranges, the samples of their upper ends: a model is then worse
            than a leader where even its upper end is, against the leader's lower one.
    """
    p_values = paired_p_values(tuple(samples), tuple(upper))
    result: list[int | None] = [None] * len(scores)
    by_score: dict[float, list[int]] = {}
    for position in np.argsort(-np.asarray(scores, dtype=float), kind="stable").tolist():
        if not np.isnan(scores[position]):
            by_score.setdefault(float(scores[position]), []).append(position)
    tier, compared = 0, 0
    leaders: list[int] = []
    for models in by_score.values():
        compared += len(models)
        pairs = compared * (compared - 1) / 2
        if not leaders or pairs * p_values[np.ix_(leaders, models)].min() < SIGNIFICANCE:
            tier, leaders, compared = tier + 1, models, len(models)
        for model in models:
            result[model] = tier
    return result


def percentiles(scores: Sequence[float] | Array) -> Array:
    """Share of the other models that a model beats, ties half, 0 to 100; nan stays; 50 for a lone model."""
    values = pd.Series(scores, dtype=float)
    if values.count() == 1:
        return np.asarray(values.where(values.isna(), 50.0))
    return np.asarray(100 * (values.rank() - 1) / (values.count() - 1))


FRONTIER_DRAWS: Final = 200
"""Joint draws of all scores. The standard error of a share is at most 3.5 points."""
DOUBT: Final = round((1 - LEVEL) / 2, 6)
"""Share of the draws from which on a model counts as possibly the better one."""
_SMALLEST: Final = 1e-3
"""Share of the maximum that 0 and 1 are moved inwards by, so that they have a logit."""


def undominated(scores: Array, costs: Array) -> NDArray[np.bool_]:
    """Whether each model is on the frontier."""
    no_worse = (costs[:, None] <= costs) & (scores[:, None] >= scores)
    is_better = (costs[:, None] < costs) | (scores[:, None] > scores)
    return np.asarray(~(no_worse & is_better).any(axis=0))


def interval_draws(
    values: Sequence[float], intervals: Sequence[Interval], maximum: float, name: str
) -> Array:
    """Draws of scores of which only the value and its 95 % interval are known, shape (draws, models).

    Normal on the logit scale, on either side of the value as wide as that side of the interval; independent
    from model to model, since who solved which task is not known. `name` seeds the random numbers.
    """
    ends = np.array([[one.low, value, one.high] for value, one in zip(values, intervals, strict=True)])
    low, centre, high = logit(np.clip(ends / maximum, _SMALLEST, 1 - _SMALLEST)).T
    normal = generator("frontier", name).standard_normal((FRONTIER_DRAWS, len(values)))
    width = np.where(normal < 0, centre - low, high - centre) / Z
    return np.asarray(maximum * expit(centre + normal * width))
