"""A few made-up models to choose from, and the page for choosing one of them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from triathlon_site.history import History
from triathlon_site.models import ModelInfo
from triathlon_site.overall_index import Index, IndexRow
from triathlon_site.pages import ShownScore
from triathlon_site.pages.all_models import AllModels, ModelRow
from triathlon_site.pages.choose import drafts
from triathlon_site.ranking import Rank
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


class Site(NamedTuple):
    """What the frame of every page asks of the site."""

    boards: tuple[()] = ()
    history: History = History()
    date: str = ""
    version: str = "0"
    docs: str = ""


def choices(solved: Mapping[str, float]) -> Draft:
    """The page for six models with one score; the index has the same order."""
    rows: list[ModelRow] = []
    for name, (size, score) in LOOP.items():
        size_text = None if size is None else f"{size}B"
        info = ModelInfo(
            name.lower(),
            name,
            None,
            size_text,
            "mit",
            open_weights=size is not None,
            usable=True,
        )
        known = Interval(score - 0.4, min(10, score + 0.4))
        cell = ShownScore(score, known, 0, grade="recorded", maximum=10.0, link="")
        place = IndexRow(10 * score, 10 * score - 4, 10 * score + 4, Rank(1, False, 1, 6), 1)
        rows.append(ModelRow(name, info, {"loop": cell}, "", place))
    places = tuple(row.index for row in rows if row.index)
    draws = np.random.default_rng(0).normal([place.value for place in places], 2, (2000, len(rows)))
    (draft,) = drafts(AllModels(tuple(rows), Index(places, draws)), solved)
    return draft


def rendered(draft: Draft) -> str:
    """The page as it is without a script."""
    frame = {"root": "", "here": draft.path, "links": [], "leaderboards": [], "more": [], "site": Site()}
    return installed_environment().render(draft.template, **frame, **draft.values)
