"""The page that sets models side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from triathlon_site.figures import PLOTLY, curves_frame, plotly_styles, radar_frame
from triathlon_site.models import ModelInfo
from triathlon_site.pages._dimensions import axis_title, dimensions
from triathlon_site.pages.compare._data import longest_curve
from triathlon_site.pages.compare._neighbours import ModelPair, model_pairs
from triathlon_site.render import Draft, Figure, PageContext
from triathlon_site.scores import Board, Overall


@dataclass(frozen=True)
class Neighbours:
    """Pairs of models that are neighbours in the overall order of one family of data."""

    family: str
    boards: tuple[Board, ...]
    pairs: list[ModelPair]


@dataclass(frozen=True)
class CompareContext(PageContext):
    """What the page that compares models shows without a script."""

    template: ClassVar[str] = "compare/page"
    plotly: str
    plotly_styles: str
    frames: list[Figure]
    """Empty figures, to which a script adds the lines of the chosen models."""
    neighbours: list[Neighbours]


def draft(boards: Sequence[Board], overalls: Mapping[str, Overall], models: Mapping[str, ModelInfo]) -> Draft:
    """The page that compares models."""
    neighbours = [
        Neighbours(family, tuple(overall.boards), pairs)
        for family, overall in overalls.items()
        if (pairs := list(model_pairs(overall, models)))
    ]
    context = CompareContext(PLOTLY, " ".join(plotly_styles()), _frames(boards), neighbours)
    return Draft("compare.html", context)


def _frames(boards: Sequence[Board]) -> list[Figure]:
    steps = longest_curve(boards)
    titles = [axis_title(board, column) for board, column in dimensions(boards)]
    frames = [
        Figure(
            curves_frame("Degradation curves", steps, x_title="loop") if steps > 1 else Markup(""),
            "Tasks that still pass in each loop, in per cent.",
        ),
        Figure(
            radar_frame("All dimensions", titles),
            "All dimensions, each axis from 0 in the centre to its maximum.",
        ),
    ]
    return [frame for frame in frames if frame.svg]
