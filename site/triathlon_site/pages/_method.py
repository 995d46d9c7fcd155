"""How everything is measured and computed."""

from collections.abc import Sequence

from triathlon_site.pages._page import Draft
from triathlon_site.ranking import SIGNIFICANCE
from triathlon_site.scores import Board
from triathlon_site.tasks import FEWEST_MODELS
from triathlon_site.uncertainty import DRAWS, LEVEL


def draft(boards: Sequence[Board]) -> Draft:
    context = {
        "boards": boards,
        "draws": DRAWS,
        "level": LEVEL,
        "significance": SIGNIFICANCE,
        "fewest": FEWEST_MODELS,
    }
    return Draft("method.html", "method", context)
