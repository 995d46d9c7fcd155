"""The page for choosing a model: a score against price, size or measured cost.

Its data is a script that holds JSON, because a page opened from a file may load nothing else. Who cannot be
told from whom is computed here; the script filters, sorts and shows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from triathlon_site.costs import LEAST_RAN
from triathlon_site.pages.all_models import IN_INDEX, AllModels, ModelRow
from triathlon_site.pages.board import FrontColumn
from triathlon_site.ranking import DOUBT, FRONTIER_DRAWS, REPORTED, interval_draws, undominated
from triathlon_site.render import Draft, Page, Section, Value, as_script, formats
from triathlon_site.scores import Board
from triathlon_site.uncertainty import Interval, share_interval

PATH: Final = "choose.html"
DATA: Final = "data/choose.js"
INDEX: Final = "index"
FEWEST: Final = 5  # models below which there is nothing to choose from: no frontier is drawn up, none advised
NAMED: Final = 3  # models that a sentence names before it counts the others


class ChoiceCost(NamedTuple):
    """A cost that a score is set against; less is better."""

    id: str
    title: str  # `{}` stands for the board that it was measured on
    low: str  # word for a low value, which takes -est: `cheap`
    noun: str  # word for it in a sentence: `a known price`
    unit: str  # `{}` stands for the value
    digits: int = 10  # of the value as it is shown; fewer where it was computed


SCORES: Final = (
    *IN_INDEX,
    FrontColumn(INDEX, "Index over all columns", tasks=0, board="", column="", within="the index"),
)
PRICE: Final = ChoiceCost("price", "List price of output, $ per million tokens", "cheap", "price", "${} / M")
SIZE: Final = ChoiceCost("size", "Parameters, billions", "small", "size", "{} B")
COSTS: Final = (
    PRICE,
    ChoiceCost("input", "List price of input, $ per million tokens", "cheap", "price", "${} / M in"),
    SIZE,
    ChoiceCost("memory", "GPU memory of the weights with 4 bits, GB", "small", "size", "{} GB", 3),
    ChoiceCost("active", "Active parameters, billions", "small", "size", "{} B active"),
    ChoiceCost(
        "solved", "Measured cost of a solved task of {}, $", "cheap", "measured cost", "${} / solved task", 3
    ),
)


class ScoredModels(NamedTuple):
    """The models that have one score."""

    score: FrontColumn
    frame: pd.DataFrame
    """A row a model: its name as `model`, its `label` and `page`, its score as `value` with the interval
    `low` to `high`, all three as pages show them as `shown`; whether it can be `recommended`; whether others
    `reported` the score, or one that it is made of; each cost by its id, nan where it is not known."""
    alike: NDArray[np.bool_]
    """Models × models: whether the second may be as good as the first, so that it cannot be told from it."""


def drafts(table: AllModels, board: Board | None, solved: Mapping[str, float]) -> Iterator[Draft]:
    """The page with its data files; first of the scores is the discipline's that most models have.

    `solved`: by id of a model, what a solved task of the board cost, in dollars.
    """
    ranked = {row.name: row for row in table.rows if row.index}
    known = {name: known_costs(row, solved) for name, row in ranked.items()}
    scored = [models for score in SCORES if (models := scored_models(table, known, score))]
    first = {column.discipline: column.id for column in reversed(IN_INDEX)}.values()
    scored.sort(key=lambda of: (of.score.id not in first, of.score.id == INDEX, -len(of.frame)))
    of_board = f"{board.plan.discipline} ({board.plan.title})" if board else ""
    costs = [
        cost._replace(title=cost.title.format(of_board))
        for cost in COSTS
        if any(of.frame[cost.id].notna().any() for of in scored)
    ]
    names = list(dict.fromkeys(name for of in scored for name in of.frame["model"]))
    content = {
        "models": [_model(ranked[name], known[name], costs) for name in names],
        "scores": [_score(of, names, costs) for of in scored],
        "costs": [cost._asdict() | {"head": formats.sentence(cost.noun)} for cost in costs],
        "named": NAMED,
        "fewest": FEWEST,
    }
    values = {
        "questions": list(questions(scored[0])) if scored else [],
        "origin": _origin(scored[0]) if scored else "",
        "least_ran": LEAST_RAN,
        "data": DATA,
        "scored": bool(scored),
        "has_costs": bool(costs),
    }
    data = Page(DATA, f"window.triathlonChoices = {as_script(content)};\n")
    yield Draft(PATH, "choose/page", values, (data,))


def scored_models(
    table: AllModels, known: Mapping[str, Mapping[str, float]], score: FrontColumn
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
    ids = [cost.id for cost in COSTS]
    costs = pd.DataFrame([known[row.name] for row in rows], columns=ids, dtype=float)
    frame = pd.DataFrame(ends, columns=["value", "low", "high"]).assign(
        model=[row.name for row in rows],
        label=[row.info.label for row in rows],
        page=[row.info.page for row in rows],
        shown=[f"{value} ({low}–{high})" for value, low, high in texts],
        recommended=[row.info.usable is True and row.mostly_ran for row in rows],
        reported=[
            any(cell.grade == REPORTED for id_, cell in row.cells.items() if score.id in (id_, INDEX))
            for row in rows
        ],
    )
    alike = np.stack([(draws >= draws[:, [place]]).mean(axis=0) >= DOUBT for place in range(len(rows))])
    return ScoredModels(score, frame.join(costs), alike)


def _ends(rows: Sequence[ModelRow], score: FrontColumn) -> tuple[NDArray[np.float64], list[list[str]]]:
    """Of each model value, low and high, and as the boards show them.

    The value of a score that is only known as a range is its middle, and its text both ends. Where no
    interval is known, it is that of a share of the column's tasks.
    """
    ends, texts = [], []
    for cell in (row.cells[score.id] for row in rows):
        span = cell.interval
        if not span.known:
            share = share_interval(cell.share * score.tasks, score.tasks)
            span = Interval(share.low * cell.maximum, share.high * cell.maximum)
        ends.append((float(np.round(cell.middle, 9)), span.low, span.high))
        shown = formats.known_range(cell.value, cell.upper, cell.maximum)
        texts.append([shown, *(formats.score(end, cell.maximum) for end in (span.low, span.high))])
    return np.array(ends), texts


def known_costs(row: ModelRow, solved: Mapping[str, float]) -> dict[str, float]:
    """The known costs by id; all parameters of a model count as active where nothing else is known."""
    info = row.info
    costs = {
        "price": info.price[1] if info.price else None,
        "input": info.price[0] if info.price else None,
        "memory": info.memory[1] if info.memory else None,
        "size": info.billions,
        "active": info.active_billions or info.billions,
        "solved": solved.get(info.id),
    }
    return {name: value for name, value in costs.items() if value is not None}


def recommended(scored: ScoredModels, cost: ChoiceCost) -> pd.DataFrame:
    """The models that can be recommended and whose cost is known."""
    return scored.frame[scored.frame["recommended"] & scored.frame[cost.id].notna()]


def questions(scored: ScoredModels) -> Iterator[Section]:
    """For readers without scripts: the frontiers by price and by size, where enough models have these."""
    for cost in (PRICE, SIZE):
        asked = recommended(scored, cost)
        best = asked[undominated(asked["value"].to_numpy(), asked[cost.id].to_numpy())]
        rows = best.sort_values(cost.id, kind="stable")[["label", "page", cost.id, "shown"]]
        if len(asked) >= FEWEST:
            title = f"{scored.score.name} by {cost.noun}"
            head = ("On the frontier", formats.sentence(cost.noun), "Score")
            cells = (
                (Value(name, link=page), Value(cost_text(cost, value)), Value(text))
                for name, page, value, text in rows.itertuples(index=False)
            )
            yield Section(f"Frontier: {title}", title, head, tuple(cells))


def cost_text(cost: ChoiceCost, value: float) -> str:
    """`$0.1375 / M`, `7 B`."""
    return cost.unit.format(formats.price(value, cost.digits))


def _model(row: ModelRow, known: Mapping[str, float], costs: Sequence[ChoiceCost]) -> dict[str, Any]:
    """What the page's script filters by and shows of a model."""
    return {
        "name": row.info.label,
        "page": row.info.page,
        "license": row.info.license or "",
        "open": {True: "open", False: "closed", None: ""}[row.info.open_weights],
        "usable": row.info.usable is True,
        "ran": row.mostly_ran,
        "context": row.info.context,
        **{cost.id: known.get(cost.id) for cost in costs},
        "shown": {cost.id: cost_text(cost, known[cost.id]) for cost in costs if cost.id in known},
    }


def _origin(scored: ScoredModels) -> str:
    """How many of the scores others reported, in a sentence; empty where all are of here."""
    reported, every = int(scored.frame["reported"].sum()), len(scored.frame)
    rest = "rest on figures that others reported" if scored.score.id == INDEX else "were reported by others"
    return f"{reported} of {every} scores {rest} and not checked." if reported else ""


def _score(scored: ScoredModels, names: Sequence[str], costs: Sequence[ChoiceCost]) -> dict[str, Any]:
    """A score with its models, by their places among all; of each the rows that cannot be told from it.

    `advised`: the costs that are known of enough models to advise one.
    """
    places = {name: place for place, name in enumerate(names)}
    score, frame = scored.score, scored.frame
    return {
        "id": score.id,
        "title": score.name,
        "short": score.within,
        "advised": [cost.id for cost in costs if len(recommended(scored, cost)) >= FEWEST],
        "rows": [places[name] for name in frame["model"]],
        "value": frame["value"].tolist(),
        "shown": frame["shown"].tolist(),
        "low": frame["low"].round(4).tolist(),
        "high": frame["high"].round(4).tolist(),
        "origin": _origin(scored),
        # a bit a row, packed in hexadecimal digits
        "alike": [row.tobytes().hex() for row in np.packbits(scored.alike, axis=1)],
    }
