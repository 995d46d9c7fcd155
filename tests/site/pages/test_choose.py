"""The page for choosing a model: frontiers, and the data from which its script chooses."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.choices import choices, rendered, scored
from support.site import script_data
from triathlon_site.overall_index import Index
from triathlon_site.pages._scores import REPORTED
from triathlon_site.pages.all_models import AllModels
from triathlon_site.pages.choose import COSTS, PRICE, cost_text, drafts
from triathlon_site.render import Draft


@pytest.fixture(scope="module")
def draft() -> Draft:
    return choices({"Middle": 0.25})


def data(draft: Draft) -> Mapping[str, Any]:
    found: Mapping[str, Any] = script_data(next(f.content for f in draft.files if f.path == "data/choose.js"))
    return found


def test_dominated_models_are_not_listed(draft: Draft) -> None:
    """Twin is as large as Middle and worse; a model without a known size is not asked about."""
    ((cost, frontier),) = draft.values["questions"]
    assert cost.id == "size"
    assert [name.text for name, *_ in frontier.rows] == ["Small", "Middle", "Large", "Costly"]
    assert "9.50 (9.10–9.90)" in rendered(draft)


def test_the_script_gets_who_cannot_be_told_from_whom(draft: Draft) -> None:
    """A bit a model; no name can end a script; a measured cost is an axis only where a model has one."""
    found = data(draft)
    loop = next(score for score in found["scores"] if score["id"] == "loop")
    names = [found["models"][row]["name"] for row in loop["rows"]]
    bits = [np.unpackbits(np.frombuffer(bytes.fromhex(row), np.uint8)) for row in loop["alike"]]
    places = map(np.flatnonzero, bits)
    alike = {name: {names[place] for place in of} for name, of in zip(names, places, strict=True)}
    assert alike["Large"] == {"Large", "Middle", "Costly", "Hidden"}  # the last two score higher
    assert "Middle" in alike["Middle"] and "Small" not in alike["Middle"]
    assert {model["name"]: model["solved"] for model in found["models"]}["Middle"] == 0.25
    assert "solved" not in [cost["id"] for cost in data(choices({}))["costs"]]
    assert all("<" not in file.content for file in draft.files if file.path.endswith(".js"))


def test_a_stated_cost_is_shown_whole() -> None:
    """As on the other pages; a computed one has three digits, and none an exponent."""
    assert cost_text(PRICE, 0.1375) == "$0.1375 / M" and cost_text(PRICE, 1e-05) == "$0.00001 / M"
    (solved,) = (cost for cost in COSTS if cost.id == "solved")
    assert cost_text(solved, 0.00123456) == "$0.00123 / solved task"


def test_without_any_cost_the_page_says_what_is_missing() -> None:
    """Its script has nothing to draw and does not run."""
    row = scored("Model", 1, 5.0)
    row = replace(row, info=replace(row.info, parameters=None))
    assert row.index
    (page,) = drafts(AllModels((row,), Index((row.index,), np.zeros((10, 1)))), {})
    text = rendered(page)
    assert "There is nothing to choose by yet" in text
    assert 'id="choose"' not in text and "choose.js" not in text.partition("<body")[0]


def test_some_models_are_not_recommended_and_some_scores_not_checked() -> None:
    """Who is retired, or whose replies mostly did not run, is on no frontier; of scores it is said."""
    rows = [scored(f"Model {size}", size, 10.0 * size, "runtime_output", 100) for size in range(1, 8)]
    rows[6] = replace(rows[6], info=replace(rows[6].info, usable=False))
    rows[5] = replace(rows[5], ran=0.27)
    unchecked = replace(rows[1].cells["runtime_output"], grade=REPORTED)
    rows[1] = replace(rows[1], cells={**rows[1].cells, "loop": unchecked})
    places = tuple(row.index for row in rows if row.index)
    (page,) = drafts(AllModels(tuple(rows), Index(places, np.zeros((10, len(rows))))), {})
    ((_, frontier),) = page.values["questions"]
    assert [name.text for name, *_ in frontier.rows] == [f"Model {size}" for size in range(1, 6)]
    assert {score["id"]: score["origin"].partition(" and ")[0] for score in data(page)["scores"]} == {
        "loop": "1 of 1 scores were reported by others",
        "runtime_output": "0 of 7 scores were reported by others",
        "index": "1 of 7 scores rest on figures that others reported",
    }
    assert page.values["origin"] in rendered(page)
