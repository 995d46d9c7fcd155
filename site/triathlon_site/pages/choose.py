"""The page for choosing a model: a score against price, size, date or measured cost.

Its data, an index of models and a file a score, are scripts that hold JSON, because a page opened from a file
may load nothing else. Every frontier is a CSV file, too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_site.costs import LEAST_RAN
from triathlon_site.exports import csv_file
from triathlon_site.pages._scores import ShownScore
from triathlon_site.pages.all_models import FRONT, AllModels, ModelRow
from triathlon_site.ranking import DOUBT, FRONTIER_DRAWS, frontier_shares, interval_draws, undominated
from triathlon_site.render import Draft, Page, as_script, formats
from triathlon_site.uncertainty import Interval, share_interval

PATH: Final = "choose.html"
DATA: Final = "data/choose.js"
FILE: Final = "data/choose-{}.js"
"""Of one score."""
TABLE: Final = "data/frontiers.csv"
INDEX: Final = "index"
STEPS: Final = 4095
"""Of draws: two characters of 6 bits each, as the page loads them."""
_LETTERS: Final = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
"""Each letter stands for 6 bits."""
OPENNESS: Final = {True: "open", False: "closed", None: ""}
LEAST_SHARE: Final = 0.05
"""Models with a smaller share are not listed, unless they are on the frontier by their scores."""
FEWEST: Final = 5
"""Models below which a usual question is left out: there is nothing to choose from."""
SHOWN: Final = ["model", "page", "cost", "shown", "frontier_share"]
"""Columns of a frontier that the page shows."""
NAMED: Final = 3
"""Models that a sentence names before it counts the others."""


class ChoiceScore(NamedTuple):
    """A score by which a model can be chosen."""

    id: str
    title: str
    short: str
    """As it stands within a sentence."""
    maximum: float = 100.0
    """10 or 100; the scale of the index has no end."""


class ChoiceCost(NamedTuple):
    """A cost that a score is set against; less is better."""

    id: str
    title: str
    least: str
    """Word for the model with the lowest value: `cheapest`."""
    noun: str
    """Word for it in a sentence: `a known price`."""
    unit: str
    """`{}` stands for the value."""


SCORES: Final = (
    *(ChoiceScore(of.id, of.name, of.within, of.maximum) for of in FRONT),
    ChoiceScore(INDEX, "Index over all columns", "the index"),
)
PRICE: Final = ChoiceCost(
    "price", "List price of output, $ per million tokens", "cheapest", "price", "${} / M"
)
SIZE: Final = ChoiceCost("size", "Parameters, billions", "smallest", "size", "{} B")
COSTS: Final = (
    PRICE,
    ChoiceCost("input", "List price of input, $ per million tokens", "cheapest", "price", "${} / M in"),
    SIZE,
    ChoiceCost("memory", "GPU memory of the weights with 4 bits, GB", "smallest", "size", "{} GB"),
    ChoiceCost("active", "Active parameters, billions", "smallest", "size", "{} B active"),
    ChoiceCost("released", "Released", "first", "date", "{}"),
    ChoiceCost(
        "solved", "Measured cost of a solved task, $", "cheapest", "measured cost", "${} / solved task"
    ),
)
USUAL: Final[tuple[tuple[ChoiceCost, str, dict[str, str]], ...]] = (
    (PRICE, "models", {}),
    (SIZE, "open models", {"open": "open"}),
    (SIZE, "open models under 10 B", {"open": "open", "size": "10"}),
)
"""The cost, the models in words, and the filters in the page's address of each usual question."""


class ScoredModels(NamedTuple):
    """The models that have one score, with joint draws of it."""

    score: ChoiceScore
    frame: pd.DataFrame
    """A row a model: its name as `model`, its `page`, its score as `value` with the interval `low` to `high`,
    all three as pages show them as `shown`; whether it can be `recommended`; each cost by its id, nan where
    it is not known."""
    draws: NDArray[np.float64]
    """In whole steps from 0 to STEPS, shape (FRONTIER_DRAWS, models): only their order counts."""


def drafts(table: AllModels, solved: Mapping[str, float]) -> Iterator[Draft]:
    """The page with its data files; first of the scores is the discipline's that most models have.

    `solved`: by name of a model, what a solved task cost, in dollars.
    """
    ranked = {row.name: row for row in table.rows if row.index}
    known = {name: known_costs(row, solved) for name, row in ranked.items()}
    scored = [models for score in SCORES if (models := scored_models(table, known, score))]
    first = {column.discipline: column.id for column in reversed(FRONT)}.values()
    scored.sort(key=lambda of: (of.score.id not in first, of.score.id == INDEX, -len(of.frame)))
    costs = [cost for cost in COSTS if any(of.frame[cost.id].notna().any() for of in scored)]
    shown = list(dict.fromkeys(name for of in scored for name in of.frame["model"]))
    values = {
        "questions": list(questions(scored[0])) if scored else [],
        "draws": FRONTIER_DRAWS,
        "least_ran": LEAST_RAN,
        "data": DATA,
        "table": TABLE,
    }
    content = {
        "models": [_model(ranked[name], known[name], costs) for name in shown],
        "scores": [of.score._asdict() | {"file": FILE.format(of.score.id)} for of in scored],
        "costs": [cost._asdict() for cost in costs],
        "leastShare": LEAST_SHARE,
        "named": NAMED,
        "doubt": DOUBT,
    }
    index = Page(DATA, f"window.triathlonChoices = {as_script(content)};\n")
    files = (index, *(_draws(shown, of) for of in scored), _table(scored, costs))
    yield Draft(PATH, "choose/page", values, files)


def scored_models(
    table: AllModels, known: Mapping[str, Mapping[str, float]], score: ChoiceScore
) -> ScoredModels | None:
    """The models with a place in the index that have this score; None where none has.

    `known`: by name of a model, its costs.
    """
    rows = [row for row in table.rows if row.index and score.id in {INDEX, *row.cells}]
    if not rows or table.index is None:
        return None
    if score.id == INDEX:
        places = [row.index for row in rows if row.index]
        ends = np.array([(place.value, place.low, place.high) for place in places])
        texts = [[formats.points(end) for end in line] for line in ends.tolist()]
        every = table.index.draws
        draws = every[:: max(1, len(every) // FRONTIER_DRAWS)][:FRONTIER_DRAWS]
    else:
        ends, texts = _ends(rows, score)
        intervals = [Interval(low, high) for _, low, high in ends.tolist()]
        draws = interval_draws(ends[:, 0].tolist(), intervals, score.maximum, score.id)
    frame = pd.DataFrame({"model": [row.name for row in rows]}).assign(
        value=ends[:, 0],
        low=ends[:, 1],
        high=ends[:, 2],
        page=[row.info.page for row in rows],
        shown=[f"{value} ({low}–{high})" for value, low, high in texts],
        recommended=[row.info.usable is True and row.mostly_ran for row in rows],
        open=[OPENNESS[row.info.open_weights] for row in rows],
    )
    for cost in COSTS:
        frame[cost.id] = np.array([known[row.name].get(cost.id, math.nan) for row in rows])
    low, high = float(draws.min()), float(draws.max())
    return ScoredModels(score, frame, np.round((draws - low) / ((high - low) or 1.0) * STEPS))


def _ends(rows: Sequence[ModelRow], score: ChoiceScore) -> tuple[NDArray[np.float64], list[list[str]]]:
    """Of each model value, low and high on the scale of the choice, and as the boards show them."""
    tasks = next(column.tasks for column in FRONT if column.id == score.id)
    ends, texts = [], []
    for row in rows:
        cell = row.cells[score.id]
        span = _interval(cell, tasks)
        value = float(np.round(score.maximum * cell.share, 9))
        ends.append((value, *(score.maximum * end / cell.maximum for end in (span.low, span.high))))
        texts.append([formats.score(end, cell.maximum) for end in (cell.value, span.low, span.high)])
    return np.array(ends), texts


def _interval(cell: ShownScore, tasks: int) -> Interval:
    """The score's interval, on its own scale; that of a share of so many tasks where none is known."""
    if cell.interval:
        return cell.interval
    span = share_interval(cell.share * tasks, tasks)
    return Interval(span.low * cell.maximum, span.high * cell.maximum)


def known_costs(row: ModelRow, solved: Mapping[str, float]) -> dict[str, float]:
    """The known costs by id; all parameters of a model count as active where nothing else is known.

    A date is months since the year 0.
    """
    info = row.info
    year, _, month = (info.released or "")[:7].partition("-")
    costs = {
        "price": info.price[1] if info.price else None,
        "input": info.price[0] if info.price else None,
        "memory": info.memory[1] if info.memory else None,
        "size": info.billions,
        "active": info.active_billions or info.billions,
        "released": 12.0 * int(year) + int(month) - 1 if month else None,
        "solved": solved.get(info.name),
    }
    return {name: value for name, value in costs.items() if value is not None}


def frontier(scored: ScoredModels, cost: ChoiceCost, among: "pd.Series[bool] | bool" = True) -> pd.DataFrame:
    """The rows of the models among these whose cost is known, the cost as `cost`.

    With the columns `undominated` (on the frontier by the score) and `frontier_share` (the part of the draws
    in which the model is on it).
    """
    frame = scored.frame[scored.frame[cost.id].notna() & among]
    costs = frame[cost.id].to_numpy()
    if frame.empty:
        return frame.assign(cost=costs, undominated=False, frontier_share=0.0)
    return frame.assign(
        cost=costs,
        undominated=undominated(frame["value"].to_numpy(), costs),
        frontier_share=frontier_shares(scored.draws[:, frame.index], costs),
    )


def questions(scored: ScoredModels) -> Iterator[dict[str, Any]]:
    """For readers without scripts: the frontier by each usual cost, where enough models have the cost."""
    frame = scored.frame
    for cost, words, filters in USUAL:
        among = frame["recommended"]
        if "open" in filters:
            among = among & (frame["open"] == filters["open"])
        if "size" in filters:
            among = among & (frame["size"] < float(filters["size"]))
        asked = frontier(scored, cost, among)
        if len(asked) < FEWEST:
            continue
        shown = asked[asked["undominated"] | (asked["frontier_share"] >= LEAST_SHARE)]
        lines = shown.sort_values("cost", kind="stable")
        yield {
            "title": f"{scored.score.title} by {cost.noun}",
            "cost": cost,
            "words": words,
            "address": f"{PATH}?{urlencode({'score': scored.score.id, 'cost': cost.id, **filters})}",
            # halves go up, as in the page's script
            "rows": [
                (name, page, cost_text(cost, value), text, f"{math.floor(100 * share + 0.5)} %")
                for name, page, value, text, share in lines[SHOWN].itertuples(index=False)
            ],
        }


def cost_text(cost: ChoiceCost, value: float) -> str:
    """`$1.5 / M`, `7 B`, `2024-11`: three digits, no exponent."""
    text = (
        f"{int(value) // 12}-{int(value) % 12 + 1:02d}"
        if cost.id == "released"
        else f"{float(f'{value:.3g}'):.12g}"
    )
    return cost.unit.format(text)


def _model(row: ModelRow, known: Mapping[str, float], costs: Sequence[ChoiceCost]) -> dict[str, Any]:
    """What the page's script filters by and shows of a model."""
    return {
        "name": row.name,
        "page": row.info.page,
        "license": row.info.license or "",
        "open": OPENNESS[row.info.open_weights],
        "usable": row.info.usable is True,
        "ran": row.mostly_ran,
        "context": row.info.context,
        **{cost.id: known.get(cost.id) for cost in costs},
        "shown": {cost.id: cost_text(cost, known[cost.id]) for cost in costs if cost.id in known},
    }


def _draws(names: Sequence[str], scored: ScoredModels) -> Page:
    """The scores of the models, and of each its draws as a text, two letters a draw."""
    places = {name: place for place, name in enumerate(names)}
    steps = scored.draws.T.astype(int)
    letters = np.stack([_LETTERS[steps >> 6], _LETTERS[steps & 63]], axis=-1)
    content = {
        "id": scored.score.id,
        "rows": [places[name] for name in scored.frame["model"]],
        "value": scored.frame["value"].tolist(),
        "shown": scored.frame["shown"].tolist(),
        "low": scored.frame["low"].round(4).tolist(),
        "high": scored.frame["high"].round(4).tolist(),
        "draws": ["".join(row) for row in letters.reshape(len(steps), -1)],
    }
    return Page(FILE.format(scored.score.id), f"window.triathlonScore({as_script(content)});\n")


def _table(scores: Sequence[ScoredModels], costs: Sequence[ChoiceCost]) -> Page:
    """Every model of every score against every cost, among all models of which both are known."""
    names = ["model", "score", "value", "low", "high", "against", "cost", "undominated", "frontier_share"]
    frames = []
    for scored in scores:
        for cost in costs:
            frame = frontier(scored, cost).round({"value": 4, "low": 4, "high": 4})
            frame = frame.assign(score=scored.score.id, against=cost.id).astype({"cost": object})
            if cost.id == "released":
                frame["cost"] = [cost_text(cost, value) for value in frame["cost"]]
            frames.append(frame[names])
    return csv_file(TABLE, pd.concat(frames) if frames else pd.DataFrame())
