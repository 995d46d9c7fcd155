"""The page for choosing a model, and its data files: an index of models, a file a score, every frontier.

The first two are scripts that hold JSON, because a page opened from a file may load nothing else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from markupsafe import Markup

from triathlon_site.costs import LEAST_RAN
from triathlon_site.exports import csv_file
from triathlon_site.figures import PricePoint, price_score
from triathlon_site.frontier import DOUBT, DRAWS, not_told_apart
from triathlon_site.pages.choose._questions import LEAST_SHARE, NAMED, Question, cost_text, questions
from triathlon_site.pages.choose._scores import (
    COSTS,
    INDEX,
    PRICE,
    SCORES,
    Candidate,
    Candidates,
    ChoiceCost,
    ScoredModels,
    scored_models,
)
from triathlon_site.pages.front import FRONT
from triathlon_site.render import Draft, Page, PageContext, as_script

PATH: Final = "choose.html"
DATA: Final = "data/choose.js"
TABLE: Final = "data/frontiers.csv"
_LETTERS: Final = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
"""Each letter stands for 6 bits."""


@dataclass(frozen=True)
class ChooseContext(PageContext):
    """The part of the page that is there without a script, and the settings of its script."""

    template: ClassVar[str] = "choose/page"
    questions: Sequence[Question]
    prices: Markup
    """The scores against prices of output; empty where nothing is known of either."""
    draws: int = DRAWS
    least_ran: float = LEAST_RAN
    data: str = DATA
    table: str = TABLE


def drafts(candidates: Candidates) -> Iterator[Draft]:
    """The page with its data files; first of the scores is the discipline's that most models have."""
    scored = [models for score in SCORES if (models := scored_models(candidates, score)) is not None]
    first = {column.discipline: column.id for column in reversed(FRONT)}.values()
    scored.sort(key=lambda of: (of.score.id not in first, of.score.id == INDEX, -len(of.models)))
    costs = [cost for cost in COSTS if any(cost.id in model.costs for model in candidates.models)]
    context = ChooseContext(
        questions(scored[0]) if scored else [], _prices(scored[0]) if scored else Markup("")
    )
    shown = list({id(model): model for of in scored for model in of.models}.values())
    files = (
        _index(shown, scored, costs),
        *(_draws(shown, of) for of in scored),
        _table(scored, costs),
    )
    yield Draft(PATH, context, files)


def _prices(scored: ScoredModels) -> Markup:
    """Usable models with a known price; shaded: those that cannot be told from the best."""
    frame = scored.frontier(PRICE, lambda model: model.usable is True and model.mostly_ran)
    if frame.empty:
        return Markup("")
    alike = not_told_apart(scored.draws[:, frame.index], int(frame["value"].to_numpy().argmax()))
    points = [
        PricePoint(name, page, price, value)
        for name, page, price, value in zip(
            *(frame[field] for field in ("model", "page", "cost", "value")), strict=True
        )
    ]
    title = f"Price against {scored.score.title}: {len(points)} models"
    return price_score(title, points, y_title=scored.score.title, band=float(frame["value"][alike].min()))


def _index(models: Sequence[Candidate], scores: Sequence[ScoredModels], costs: Sequence[ChoiceCost]) -> Page:
    content = {
        "models": [
            {
                "name": model.name,
                "page": model.page,
                "license": model.license,
                "open": model.openness,
                "usable": model.usable is True,
                "ran": model.mostly_ran,
                "context": model.context,
                **{cost.id: model.costs.get(cost.id) for cost in costs},
                "shown": {
                    cost.id: cost_text(cost, model.costs[cost.id]) for cost in costs if cost.id in model.costs
                },
            }
            for model in models
        ],
        "scores": [asdict(of.score) | {"file": _path(of)} for of in scores],
        "costs": [asdict(cost) for cost in costs],
        "leastShare": LEAST_SHARE,
        "named": NAMED,
        "doubt": DOUBT,
    }
    return Page(DATA, f"window.triathlonChoices = {as_script(content)};\n")


def _draws(models: Sequence[Candidate], scored: ScoredModels) -> Page:
    """The scores of the models, and of each its draws as a text, two letters a draw."""
    places = {id(model): place for place, model in enumerate(models)}
    steps = scored.draws.T.astype(int)
    letters = np.stack([_LETTERS[steps >> 6], _LETTERS[steps & 63]], axis=-1)
    content = {
        "id": scored.score.id,
        "rows": [places[id(model)] for model in scored.models],
        "value": scored.frame["value"].tolist(),
        "shown": scored.frame["shown"].tolist(),
        "low": scored.frame["low"].round(4).tolist(),
        "high": scored.frame["high"].round(4).tolist(),
        "draws": ["".join(row) for row in letters.reshape(len(steps), -1)],
    }
    return Page(_path(scored), f"window.triathlonScore({as_script(content)});\n")


def _path(scored: ScoredModels) -> str:
    return f"data/choose-{scored.score.id}.js"


def _table(scores: Sequence[ScoredModels], costs: Sequence[ChoiceCost]) -> Page:
    """Every model of every score against every cost, among all models of which both are known."""
    frames = []
    for scored in scores:
        for cost in costs:
            frame = (
                scored.frontier(cost).drop(columns=["shown", "page"]).round({"value": 4, "low": 4, "high": 4})
            )
            if cost.id == "released":
                frame["cost"] = [cost_text(cost, value) for value in frame["cost"]]
            frame.insert(1, "score", scored.score.id)
            frame.insert(5, "against", cost.id)
            frames.append(frame.astype({"cost": object}))
    return csv_file(TABLE, pd.concat(frames) if frames else pd.DataFrame())
