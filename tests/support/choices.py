"""A few made-up models to choose from, and the page for choosing one of them."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from support.site import script_data
from triathlon_site.history import History
from triathlon_site.models import ModelInfo
from triathlon_site.overall_index import Index, IndexRow
from triathlon_site.pages.all_models import AllModels, ModelRow
from triathlon_site.pages.choose import drafts
from triathlon_site.ranking import Rank, Score
from triathlon_site.render import Draft, installed_environment
from triathlon_site.uncertainty import Interval

LOOP = {
    "Small": (1, 5.0),
    "Middle": (4, 7.0),
    "Twin": (4, 4.0),
    "Large": (9, 7.2),
    "Costly": (200, 9.5),
    "Hidden": (None, 9.9),
}
"""Size in billions and score of 10; the interval is 0.4 to either side."""


def scored(
    name: str, size: float | None, score: float, column: str = "loop", maximum: float = 10
) -> ModelRow:
    """A model, open where its size is known, with a score that is known to 4 % of the scale either way."""
    parameters = None if size is None else f"{size}B"
    info = ModelInfo(name.lower(), name, None, parameters, "mit", open_weights=size is not None, usable=True)
    arm, points = 0.04 * maximum, 100 * score / maximum
    known = Interval(score - arm, min(maximum, score + arm))
    cell = Score(score, known, grade="recorded", maximum=maximum)
    place = IndexRow(points, points - 4, points + 4, Rank(1, False, 1, 6), 1)
    return ModelRow(name, info, {column: cell}, "", place)


def choices(solved: Mapping[str, float]) -> Draft:
    """The page for six models with one score; the index has the same order."""
    rows = [scored(name, size, score) for name, (size, score) in LOOP.items()]
    places = tuple(row.index for row in rows if row.index)
    draws = np.random.default_rng(0).normal([place.value for place in places], 2, (2000, len(rows)))
    (draft,) = drafts(AllModels(tuple(rows), Index(places, draws)), None, solved)
    return draft


def data_of(draft: Draft) -> Any:
    """What the script of the page gets."""
    return script_data(next(page.content for page in draft.files if page.path == "data/choose.js"))


def rendered(draft: Draft) -> str:
    """The page as it is without a script."""
    site = SimpleNamespace(boards=(), history=History(), date="", version="0", docs="")
    frame = {"root": "", "here": draft.path, "links": [], "leaderboards": [], "more": [], "site": site}
    return installed_environment().render("base", template=draft.template, **frame, **draft.values)
