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
"""Each letter stands for 6 bits."""


def files(scores: Sequence[ScoredModels], costs: Sequence[ChoiceCost]) -> Iterator[Page]:
    """The index, a file for each score, and the table."""
    models = tuple({id(model): model for scored in scores for model in scored.models}.values())
    index = {
        "models": [_model(model, costs) for model in models],
        "scores": [asdict(scored.score) | {"file": _path(scored)} for scored in scores],
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
    for scored in scores:
        content = {
            "id": scored.score.id,
            "rows": [places[id(model)] for model in scored.models],
            "value": scored.values.tolist(),
            "low": [round(interval.low, 4) for interval in scored.intervals],
            "high": [round(interval.high, 4) for interval in scored.intervals],
            "draws": _encoded(scored),
            "figure": interactive_choice(scored.score.title),
        }
        yield Page(_path(scored), f"window.triathlonScore({as_script(content)});\n")
    yield Page(TABLE, _table(scores, costs))


def _model(model: Candidate, costs: Sequence[ChoiceCost]) -> dict[str, Any]:
    return {
        "name": model.name,
        "license": model.license,
        "open": model.openness,
        "context": model.context,
        **{cost.id: model.costs.get(cost.id) for cost in costs},
    }


def _path(scored: ScoredModels) -> str:
    return f"data/choose-{scored.score.id}.js"


def _encoded(scored: ScoredModels) -> list[str]:
    """A text for each model, two letters a draw."""
    steps = scored.draws.T.astype(int)
    letters = np.stack([_LETTERS[steps >> 6], _LETTERS[steps & 63]], axis=-1)
    return ["".join(row) for row in letters.reshape(len(steps), -1)]


def _table(scores: Sequence[ScoredModels], costs: Sequence[ChoiceCost]) -> str:
    """Every model of every score against every cost, among all models of which both are known."""
    rows = []
    for scored in scores:
        for cost in costs:
            known = [row for row, model in enumerate(scored.models) if cost.id in model.costs]
            if not known:
                continue
            group = select(scored, known)
            values = np.array([model.costs[cost.id] for model in group.models])
            shares, on_frontier = frontier_shares(group.draws, values), undominated(group.values, values)
            rows += [
                {
                    "model": model.name,
                    "score": scored.score.id,
                    "value": round(float(group.values[row]), 4),
                    "low": round(group.intervals[row].low, 4),
                    "high": round(group.intervals[row].high, 4),
                    "against": cost.id,
                    "cost": cost_text(cost, values[row]) if cost.id == "released" else float(values[row]),
                    "undominated": bool(on_frontier[row]),
                    "frontier_share": float(shares[row]),
                }
                for row, model in enumerate(group.models)
            ]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")
