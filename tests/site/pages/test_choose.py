"""The page for choosing a model: frontiers, and the data from which its script computes."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.choices import LOOP, choices, rendered
from triathlon_site.models import ModelInfo
from triathlon_site.overall_index import Index, IndexRow
from triathlon_site.pages import ShownScore
from triathlon_site.pages.all_models import AllModels, ModelRow
from triathlon_site.pages.choose import drafts
from triathlon_site.ranking import Rank, frontier_shares
from triathlon_site.render import Draft
from triathlon_site.uncertainty import Interval

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@pytest.fixture(scope="module")
def draft() -> Draft:
    return choices({"Middle": 0.25})


def script(draft: Draft, path: str) -> Mapping[str, Any]:
    content = next(file.content for file in draft.files if file.path == path)
    found: Mapping[str, Any] = json.loads(content[content.index("{") : content.rindex("}") + 1])
    return found


def test_dominated_models_are_not_listed(draft: Draft) -> None:
    """Twin is as large as Middle and worse: it is on no frontier; a larger and better model is, and a model
    without a known size is not asked about.
    """
    question = next(one for one in draft.values["questions"] if one["words"] == "open models")
    shares = {name: share for name, *_, share in question["rows"]}
    assert list(shares) == ["Small", "Middle", "Large", "Costly"]
    assert shares["Small"] == shares["Costly"] == "100 %" and "50 %" < shares["Large"] < "99 %"
    assert question["address"] == "choose.html?score=loop&cost=size&open=open"
    assert "9.50 (9.10–9.90)" in rendered(draft) and "Hidden" in LOOP


def table_row(name: str, billions: str, score: float, maximum: float) -> ModelRow:
    """A model with a score in one column, which is known to 4 per cent either way."""
    info = ModelInfo(name, name, parameters=f"{billions}B", open_weights=True, usable=True)
    known = Interval(score - 0.04 * maximum, score + 0.04 * maximum)
    cell = ShownScore(score, maximum, known, "recorded", "", "", "")
    place = IndexRow(50.0, 40.0, 60.0, Rank(1, tied=False, low=1, high=5), 1)
    return ModelRow(name, info, {"runtime_output": cell}, "", place)


def rows_of(rows: Sequence[ModelRow]) -> Mapping[str, Sequence[str]]:
    """Of the open models by size: what the page says of each that is on the frontier, by name."""
    draws = np.random.default_rng(0).normal(50, 5, (200, len(rows)))  # of the index, which is not asked for
    places = tuple(row.index for row in rows if row.index)
    (page,) = drafts(AllModels(tuple(rows), Index(places, draws)), {})
    question = next(one for one in page.values["questions"] if one["words"] == "open models")
    return {name: texts for name, *texts in question["rows"]}


def test_shares_and_per_cent_are_on_one_scale() -> None:
    """A share of 0.6 is better than reported 40 per cent, and is shown as per cent, too."""
    reported = [table_row(f"Reported {size}", f"{size}", 10.0 * size, 100.0) for size in (2, 3, 4)]
    own = [table_row("Ours", "20", 0.6, 1.0), table_row("Ours, small", "1", 0.1, 1.0)]
    found = rows_of([*reported, *own])
    assert list(found)[-1] == "Ours" and found["Ours"][1:3] == ["20 B", "60.0 (56.0–64.0)"]
    assert found["Reported 4"][2] == "40.0 (36.0–44.0)"


def test_only_usable_models_that_ran_are_recommended() -> None:
    """The best two, one retired and one whose replies mostly did not run, are on no frontier."""
    rows = [table_row(f"Model {size}", f"{size}", 10.0 * size, 100.0) for size in range(1, 8)]
    rows[6] = replace(rows[6], info=replace(rows[6].info, usable=False))
    rows[5] = replace(rows[5], ran=0.27)
    assert list(rows_of(rows)) == [f"Model {size}" for size in range(1, 6)]


def test_the_page_computes_from_the_same_draws(draft: Draft) -> None:
    """Shares computed from the draws in the data file are those of the CSV file."""
    loop = script(draft, "data/choose-loop.js")
    own = [script(draft, "data/choose.js")["models"][row] for row in loop["rows"]]
    known = [place for place, model in enumerate(own) if model["size"] is not None]
    draws = np.array(
        [
            [64 * LETTERS.index(a) + LETTERS.index(b) for a, b in zip(text[::2], text[1::2], strict=True)]
            for text in loop["draws"]
        ],
        float,
    ).T
    shares = frontier_shares(draws[:, known], np.array([own[place]["size"] for place in known]))
    table = next(file.content for file in draft.files if file.path == "data/frontiers.csv")
    rows = csv.DictReader(io.StringIO(table))
    assert {
        row["model"]: float(row["frontier_share"])
        for row in rows
        if (row["score"], row["against"]) == ("loop", "size")
    } == {own[place]["name"]: pytest.approx(share) for place, share in zip(known, shares, strict=True)}


def test_measured_cost_is_offered_where_a_model_has_one(draft: Draft) -> None:
    """The cost of a solved task is an axis only where it was measured; no name can end a script."""
    models = script(draft, "data/choose.js")["models"]
    assert {model["name"]: model["solved"] for model in models}["Middle"] == 0.25
    costs = script(choices({}), "data/choose.js")["costs"]
    assert "solved" not in [cost["id"] for cost in costs]
    assert all("<" not in file.content for file in draft.files if file.path.endswith(".js"))
