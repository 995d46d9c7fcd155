"""The data files of the page: an index of models, a file a score, and every frontier as CSV.

The first two are scripts that hold JSON, because a page opened from a file may load nothing else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import pandas as pd

from triathlon_site.figures import interactive_choice, interactive_choice_axis
from triathlon_site.frontier import DOUBT, frontier_shares, undominated
from triathlon_site.pages.choose._candidates import Candidate
from triathlon_site.pages.choose._questions import LEAST_SHARE, NAMED, cost_text
from triathlon_site.pages.choose._scores import ChoiceCost, ScoredModels, select
from triathlon_site.render import Page, as_script

DATA: Final = "data/choose.js"
TABLE: Final = "data/frontiers.csv"
_LETTERS: Final = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
"""One stands for 6 bits."""


def files(every: Sequence[ScoredModels], costs: Sequence[ChoiceCost]) -> Iterator[Page]:
    """The index, a file for each score, and the table."""
    models = tuple({id(model): model for scored in every for model in scored.models}.values())
    index = {
        "models": [_model(model, costs) for model in models],
        "scores": [asdict(one.score) | {"file": _path(one)} for one in every],
        "costs": [
            {
                "id": cost.id,
                "title": cost.title,
                "least": cost.least,
                "noun": cost.noun,
                "unit": cost.unit,
                "axis": interactive_choice_axis(cost.title, logarithmic=cost.logarithmic),
            }
            for cost in costs
        ],
        "leastShare": LEAST_SHARE,
        "named": NAMED,
        "doubt": DOUBT,
    }
    yield Page(DATA, f"window.triathlonChoices = {as_script(index)};\n")
    places = {id(model): place for place, model in enumerate(models)}
    for scored in every:
        content = {
            "id": scored.score.id,
            "rows": [places[id(model)] for model in scored.models],
            "value": scored.values.tolist(),
            "low": [round(one.low, 4) for one in scored.intervals],
            "high": [round(one.high, 4) for one in scored.intervals],
            "draws": _encoded(scored),
            "figure": interactive_choice(scored.score.title),
        }
        yield Page(_path(scored), f"window.triathlonScore({as_script(content)});\n")
    yield Page(TABLE, _table(every, costs))


def _model(model: Candidate, costs: Sequence[ChoiceCost]) -> dict[str, Any]:
    return {
        "name": model.name,
        "license": model.license,
        "open": model.openness,
        "context": model.context,
        **{cost.id: model.costs.get(cost.id) for cost in costs},
    }


def _path(models: ScoredModels) -> str:
    return f"data/choose-{models.score.id}.js"


def _encoded(models: ScoredModels) -> list[str]:
    """A text for each model, two letters a draw."""
    steps = models.draws.T.astype(int)
    letters = np.stack([_LETTERS[steps >> 6], _LETTERS[steps & 63]], axis=-1)
    return ["".join(row) for row in letters.reshape(len(steps), -1)]


def _table(every: Sequence[ScoredModels], costs: Sequence[ChoiceCost]) -> str:
    """Every model of every score against every cost, among all models of which both are known."""
    rows = []
    for models in every:
        for cost in costs:
            own = select(models, [row for row, one in enumerate(models.models) if cost.id in one.costs])
            if not own.models:
                continue
            values = np.array([model.costs[cost.id] for model in own.models])
            shares, on = frontier_shares(own.draws, values), undominated(own.values, values)
            rows += [
                {
                    "model": model.name,
                    "score": models.score.id,
                    "value": round(float(own.values[row]), 4),
                    "low": round(own.intervals[row].low, 4),
                    "high": round(own.intervals[row].high, 4),
                    "against": cost.id,
                    "cost": cost_text(cost, values[row]) if cost.id == "released" else float(values[row]),
                    "undominated": bool(on[row]),
                    "frontier_share": float(shares[row]),
                }
                for row, model in enumerate(own.models)
            ]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")
