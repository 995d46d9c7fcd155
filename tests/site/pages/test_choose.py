"""The page for choosing a model: frontiers, and the data from which its script chooses."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.choices import choices, rendered
from triathlon_site.models import ModelInfo
from triathlon_site.overall_index import Index, IndexRow
from triathlon_site.pages import ShownScore
from triathlon_site.pages._scores import REPORTED
from triathlon_site.pages.all_models import AllModels, ModelRow
from triathlon_site.pages.choose import drafts
from triathlon_site.ranking import Rank
from triathlon_site.render import Draft
from triathlon_site.uncertainty import Interval


@pytest.fixture(scope="module")
def draft() -> Draft:
    return choices({"Middle": 0.25})


def data(draft: Draft) -> Mapping[str, Any]:
    content = next(file.content for file in draft.files if file.path == "data/choose.js")
    found: Mapping[str, Any] = json.loads(content[content.index("{") : content.rindex("}") + 1])
    return found


def test_dominated_models_are_not_listed(draft: Draft) -> None:
    """Twin is as large as Middle and worse: it is on no frontier; a larger and better model is, and a model
    without a known size is not asked about.
    """
    (question,) = draft.values["questions"]
    assert question["cost"].id == "size"
    assert [name for name, *_ in question["rows"]] == ["Small", "Middle", "Large", "Costly"]
    assert "9.50 (9.10–9.90)" in rendered(draft)


def test_the_script_gets_who_cannot_be_told_from_whom(draft: Draft) -> None:
    """A bit a model: of the best, itself alone but for a model whose interval reaches its score; no name can
    end a script, and a measured cost is an axis only where a model has one.
    """
    found = data(draft)
    loop = next(score for score in found["scores"] if score["id"] == "loop")
    names = [found["models"][row]["name"] for row in loop["rows"]]
    alike = {}
    for name, row in zip(names, loop["alike"], strict=True):
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(row), np.uint8))
        alike[name] = {names[bit] for bit in np.flatnonzero(bits)}
    assert alike["Large"] == {"Large", "Middle", "Costly", "Hidden"}  # the last two score higher
    assert "Middle" in alike["Middle"] and "Small" not in alike["Middle"]
    assert {model["name"]: model["solved"] for model in found["models"]}["Middle"] == 0.25
    assert "solved" not in [cost["id"] for cost in data(choices({}))["costs"]]
    assert all("<" not in file.content for file in draft.files if file.path.endswith(".js"))


def table_row(name: str, billions: str, score: float) -> ModelRow:
    """A model with a score in one column, which is known to 4 per cent either way."""
    info = ModelInfo(name, name, parameters=f"{billions}B", open_weights=True, usable=True)
    known = Interval(score - 4.0, score + 4.0)
    cell = ShownScore(score, known, 0, grade="recorded", maximum=100.0, link="")
    place = IndexRow(50.0, 40.0, 60.0, Rank(1, tied=False, low=1, high=5), 1)
    return ModelRow(name, info, {"runtime_output": cell}, "", place)


def rows_of(rows: Sequence[ModelRow]) -> Mapping[str, Sequence[str]]:
    """By size: what the page says of each that is on the frontier, by name."""
    draws = np.random.default_rng(0).normal(50, 5, (200, len(rows)))  # of the index, which is not asked for
    places = tuple(row.index for row in rows if row.index)
    (page,) = drafts(AllModels(tuple(rows), Index(places, draws)), {})
    (question,) = page.values["questions"]
    return {name: texts for name, *texts in question["rows"]}


def test_only_usable_models_that_ran_are_recommended() -> None:
    """The best two, one retired and one whose replies mostly did not run, are on no frontier."""
    rows = [table_row(f"Model {size}", f"{size}", 10.0 * size) for size in range(1, 8)]
    rows[6] = replace(rows[6], info=replace(rows[6].info, usable=False))
    rows[5] = replace(rows[5], ran=0.27)
    assert list(rows_of(rows)) == [f"Model {size}" for size in range(1, 6)]


def test_without_any_cost_the_page_says_what_is_missing() -> None:
    """Its script has nothing to draw and does not run."""
    row = table_row("Model", "1", 50.0)
    row = replace(row, info=replace(row.info, parameters=None))
    assert row.index
    (page,) = drafts(AllModels((row,), Index((row.index,), np.zeros((10, 1)))), {})
    text = rendered(page)
    assert "There is nothing to choose by yet" in text
    assert 'id="choose"' not in text and "choose.js" not in text.partition("<body")[0]


def test_reported_scores_are_counted_by_score() -> None:
    """What is said of scores that nobody checked is true for the chosen one; the index is made of all."""
    rows = [table_row(f"Model {size}", f"{size}", 10.0 * size) for size in range(1, 8)]
    rows[1] = replace(
        rows[1], cells={**rows[1].cells, "loop": replace(rows[1].cells["runtime_output"], grade=REPORTED)}
    )
    places = tuple(row.index for row in rows if row.index)
    (page,) = drafts(AllModels(tuple(rows), Index(places, np.zeros((10, len(rows))))), {})
    assert {score["id"]: score["origin"].partition(" and ")[0] for score in data(page)["scores"]} == {
        "loop": "1 of 1 scores were reported by others",
        "runtime_output": "0 of 7 scores were reported by others",
        "index": "1 of 7 scores rest on figures that others reported",
    }
    assert page.values["origin"] in rendered(page)
