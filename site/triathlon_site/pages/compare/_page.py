"""The page that sets models side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_site.figures import PLOTLY, curves_frame, plotly_styles, radar_frame
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages._dimensions import axis_title, dimensions
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.compare._data import degradation_curves, files
from triathlon_site.render import Draft, Figure, Page, PageContext
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
    """Each with the maximum of its column."""

    @property
    def verdict(self) -> str:
        """The result over all disciplines, in words."""
        known = [difference for difference, _ in self.differences if difference]
        better = sum(difference.sure and difference.value > 0 for difference in known)
        worse = sum(difference.sure and difference.value < 0 for difference in known)
        if better and worse:
            return "it depends"
        if not better and not worse:
            return "no difference shown"
        side = "better" if better else "worse"
        return f"{side} in {max(better, worse)} of {len(known)}"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Models of a family of data that are next to each other in its order."""

    boards: tuple[Board, ...]
    """The boards whose headlines are compared; a single one where the order is that of one board."""
    pairs: list[ModelPair]


@dataclass(frozen=True)
class CompareContext(PageContext):
    """The part of the page that is there without a script."""

    template: ClassVar[str] = "compare/page"
    plotly_styles: str
    frames: list[Figure]
    """Empty figures, to which a script adds the lines of the chosen models."""
    neighbours: Mapping[str, Neighbours]
    """By family of data, of those with two models to compare."""
    plotly: str = PLOTLY


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The page that compares models, where there are two; the files that it loads."""
    curves = degradation_curves(site.boards)
    if len(site.results.models) > 1:
        by_family = {
            family: neighbours(site.overalls[family], site.models)
            for family in compared_families(site.overalls)
        }
        context = CompareContext(" ".join(plotly_styles()), _frames(site.boards, curves), by_family)
        yield Draft("compare.html", context)
    measured = {id(joined) for joined in site.same.values()}
    reported = sorted(joined.name for joined in site.reported.models if id(joined) not in measured)
    yield from files(site.boards, site.models, curves, reported)


def _frames(boards: Sequence[Board], curves: Mapping[str, list[float]]) -> list[Figure]:
    steps = max(map(len, curves.values()), default=0)
    titles = [axis_title(board, column) for board, column in dimensions(boards)]
    frames = [
        Figure(curves_frame("Degradation curves", steps), "Tasks that still pass in each loop, in per cent."),
        Figure(
            radar_frame("All dimensions", titles),
            "All dimensions, each axis from 0 in the centre to its maximum.",
        ),
    ]
    return [frame for frame in frames if frame.svg]


def compared_families(overalls: Mapping[str, Overall]) -> list[str]:
    """The families of data that have two models to compare."""
    return [family for family, overall in overalls.items() if len(_order(overall)[0]) > 1]


def _order(overall: Overall) -> tuple[list[str], tuple[Board, ...]]:
    """Models from the best down, and the boards on which they are compared.

    Recorded models often have one discipline alone. Where no two have all of them, the order is that of the
    board with the most models.
    """
    ranked = [row.model for row in overall.rows if row.rank]
    if len(ranked) > 1:
        return ranked, overall.boards
    largest = max(overall.boards, key=lambda board: len(board.headline.scores))
    return [model for model in largest.models if model in largest.headline.scores], (largest,)


def neighbours(overall: Overall, models: Models) -> Neighbours:
    """The BEST models of a family of data, each with each, and up to MOST models, each with the next."""
    ranked, boards = _order(overall)
    order = ranked[:MOST]
    columns = [(_differences(board, order), board.plan.headline.maximum) for board in boards]
    pairs = [
        ModelPair(
            models[order[higher]],
            models[order[lower]],
            tuple((differences.of(higher, lower), maximum) for differences, maximum in columns),
        )
        for higher in range(len(order))
        for lower in range(higher + 1, min(len(order), max(BEST, higher + 2)))
    ]
    return Neighbours(boards, pairs)


def _differences(board: Board, order: Sequence[str]) -> Differences:
    """Between the models of the order, in the board's headline."""
    models = board.headline.samples[0].models
    return board.headline.differences.among([models.index(model) for model in order])
