"""A few made-up models to choose from."""

from collections.abc import Mapping

import numpy as np

from triathlon_site.overall_index import IndexRow
from triathlon_site.pages import ShownScore
from triathlon_site.pages.choose import Candidate, Candidates
from triathlon_site.ranking import Rank
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


def choices(solved: Mapping[str, float]) -> Candidates:
    """Six models with one score; the index has the same order."""
    models = tuple(
        Candidate(
            name=name,
            page=f"models/{name.lower()}.html",
            license="mit",
            openness="closed" if size is None else "open",
            usable=True,
            context=None,
            costs={
                **({} if size is None else {"size": float(size), "memory": size / 2}),
                **({"solved": solved[name]} if name in solved else {}),
            },
            scores={
                "loop": ShownScore(
                    score, 10.0, Interval(score - 0.4, min(10, score + 0.4)), "recorded", "", "", ""
                )
            },
            index=IndexRow(10 * score, 10 * score - 4, 10 * score + 4, Rank(1, False, 1, 6), 1),
        )
        for name, (size, score) in LOOP.items()
    )
    centres = [model.index.value for model in models]
    draws = np.random.default_rng(0).normal(centres, 2, (2000, len(models)))
    return Candidates(models, draws)
