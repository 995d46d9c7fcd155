"""Is a model really better than the next one? Pairs of models in the overall order, with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site.models import ModelInfo
from triathlon_site.scores import Board, Overall
from triathlon_site.uncertainty import Difference, Differences

BEST: Final = 5
"""Models that are compared each with each."""
MOST: Final = 30
"""Models that are compared with the next below."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """The higher model minus the lower, in each discipline."""

    higher: ModelInfo
    lower: ModelInfo
    differences: tuple[tuple[Difference | None, float], ...]
    """With the maximum of the column."""

    @property
    def verdict(self) -> str:
        """In words, over the disciplines."""
        known = [found for found, _ in self.differences if found]
        better, worse = (sum(sign * one.value > 0 for one in known if one.sure) for sign in (1, -1))
        if better and worse:
            return "it depends"
        if not better and not worse:
            return "no telling"
        side = "better" if better else "worse"
        return f"{side} in {max(better, worse)} of {len(known)}"


def model_pairs(overall: Overall, models: Mapping[str, ModelInfo]) -> Iterator[ModelPair]:
    """The best each with each, the others each with the next."""
    order = [row.model for row in overall.rows if row.rank][:MOST]
    lower = {place: range(place + 1, min(len(order), max(BEST, place + 2))) for place in range(len(order))}
    columns = [_differences(board, order) for board in overall.boards]
    for place, others in lower.items():
        for other in others:
            found = tuple(
                (column.of(place, other), board.plan.headline.maximum)
                for column, board in zip(columns, overall.boards, strict=True)
            )
            yield ModelPair(models[order[place]], models[order[other]], found)


def _differences(board: Board, order: Sequence[str]) -> Differences:
    """Between the models of the order, in the board's headline."""
    models = board.headline.samples[0].models
    return board.headline.differences.among([models.index(model) for model in order])
