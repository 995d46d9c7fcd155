"""The page for choosing a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_site.figures import PLOTLY, plotly_styles
from triathlon_site.frontier import DRAWS
from triathlon_site.pages.choose._candidates import Candidates
from triathlon_site.pages.choose._data import DATA, TABLE, files
from triathlon_site.pages.choose._questions import LEAST_SHARE, Question, questions
from triathlon_site.pages.choose._scores import COSTS, SCORES, scored_models
from triathlon_site.render import Draft, PageContext

PATH: Final = "choose.html"
BOARDS: Final = ("loop-mbpp-plus", "runtime-cruxeval-output", "runtime-dreval", "evolved-official")
"""Boards that the scores come from: what a solved task cost is counted over these."""


@dataclass(frozen=True)
class ChooseContext(PageContext):
    """The part of the page that is there without a script, and the settings of its script."""

    template: ClassVar[str] = "choose/page"
    questions: Sequence[Question]
    draws: int
    least_share: float
    plotly: str
    plotly_styles: str
    data: str
    table: str


def drafts(candidates: Candidates) -> Iterator[Draft]:
    """The page with its data files."""
    known_costs = {cost for model in candidates.models for cost in model.costs}
    scored = [models for score in SCORES if (models := scored_models(candidates, score)) is not None]
    context = ChooseContext(
        questions=questions(scored),
        draws=DRAWS,
        least_share=LEAST_SHARE,
        plotly=PLOTLY,
        plotly_styles=" ".join(plotly_styles()),
        data=DATA,
        table=TABLE,
    )
    yield Draft(PATH, context, tuple(files(scored, [cost for cost in COSTS if cost.id in known_costs])))
