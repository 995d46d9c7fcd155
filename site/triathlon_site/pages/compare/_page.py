"""The page that sets models side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from markupsafe import Markup

from triathlon_site.figures import PLOTLY, curves_frame, plotly_styles, radar_frame
from triathlon_site.models import ModelInfo
from triathlon_site.pages._dimensions import axis_title, dimensions
from triathlon_site.pages.compare._data import longest_curve
from triathlon_site.render import Draft, Figure, PageContext
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


@dataclass(frozen=True)
class CompareContext(PageContext):
    """What the page that compares models shows without a script."""

    template: ClassVar[str] = "compare/page"
    plotly: str
    plotly_styles: str
    frames: list[Figure]
    """Empty figures, to which a script adds the lines of the chosen models."""
    neighbours: Mapping[str, list[ModelPair]]
    """By family of data, pairs of models that are neighbours in its overall order."""


def draft(boards: Sequence[Board], overalls: Mapping[str, Overall], models: Mapping[str, ModelInfo]) -> Draft:
    """The page that compares models."""
    pairs = {family: list(model_pairs(overall, models)) for family, overall in overalls.items()}
    neighbours = {family: own for family, own in pairs.items() if own}
    context = CompareContext(PLOTLY, " ".join(plotly_styles()), _frames(boards), neighbours)
    return Draft("compare.html", context)


def _frames(boards: Sequence[Board]) -> list[Figure]:
    steps = longest_curve(boards)
    titles = [axis_title(board, column) for board, column in dimensions(boards)]
    frames = [
        Figure(
            curves_frame("Degradation curves", steps) if steps > 1 else Markup(""),
            "Tasks that still pass in each loop, in per cent.",
        ),
        Figure(
            radar_frame("All dimensions", titles),
            "All dimensions, each axis from 0 in the centre to its maximum.",
        ),
    ]
    return [frame for frame in frames if frame.svg]


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
