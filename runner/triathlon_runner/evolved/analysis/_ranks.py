"""Ranks as EvoEval's table 1 writes them: higher is better, ties share the smallest rank and carry a star."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rank:
    position: int
    """From 1."""
    tied: bool

    def __str__(self) -> str:
        return f"{'*' if self.tied else ''}{self.position}"


def ranks(scores: Mapping[str, float], decimals: int = 6) -> dict[str, Rank]:
    """The rank of each model.

    Args:
        scores: by model.
        decimals: what scores are rounded to before they are compared, so that the last bit of a mean makes no
            difference between equals.
    """
    rounded = {model: round(score, decimals) for model, score in scores.items()}
    counts = Counter(rounded.values())
    above = {value: sum(count for other, count in counts.items() if other > value) for value in counts}
    return {model: Rank(above[value] + 1, counts[value] > 1) for model, value in rounded.items()}


def rank_shifts(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, int]:
    """Rank before minus rank after (positive: rises), among the models that have both."""
    shared = before.keys() & after.keys()
    old, new = ({m: r for m, r in scores.items() if m in shared} for scores in (before, after))
    old_ranks, new_ranks = ranks(old), ranks(new)
    return {model: old_ranks[model].position - new_ranks[model].position for model in old_ranks}
