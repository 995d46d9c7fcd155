"""The page for choosing a model: questions in words, frontiers, data files."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from support.choices import choices, rendered
from triathlon_site.models import ModelInfo
from triathlon_site.overall_index import Index, IndexRow
from triathlon_site.pages import ShownScore
from triathlon_site.pages.choose import Question, drafts
from triathlon_site.pages.front import AllModels, ModelRow
from triathlon_site.ranking import Rank, frontier_shares
from triathlon_site.render import Draft
from triathlon_site.uncertainty import Interval

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@pytest.fixture(scope="module")
def draft() -> Draft:
    return choices({"Middle": 0.25})


def questions_of(draft: Draft) -> Sequence[Question]:
    found: Sequence[Question] = draft.values["questions"]
    return found


def script(draft: Draft, path: str) -> Mapping[str, object]:
    content = next(file.content for file in draft.files if file.path == path)
    found: Mapping[str, object] = json.loads(content[content.index("{") : content.rindex("}") + 1])
    return found


def test_questions_are_answered_in_words(draft: Draft) -> None:
    """The best, who cannot be told from it, and the smallest of these, of the models with a known size."""
    sentences = {(one.score.id, one.cost.id, one.words): one.sentence for one in questions_of(draft)}
    assert sentences["loop", "size", "open models"] == (
        "Take Costly (200 B): of 5 usable open models with a known size it scores highest in loop,"
        " 9.50 (9.10–9.90), and no other comes close enough to doubt it."
    )
    assert sentences["loop", "size", "open models"] in rendered(draft)


def test_dominated_models_are_not_listed(draft: Draft) -> None:
    """Twin is as large as Middle and worse: it is on no frontier; a larger and better model is."""
    question = next(one for one in questions_of(draft) if (one.score.id, one.cost.id) == ("loop", "size"))
    rows = {row.name: row for row in question.rows}
    assert list(rows) == ["Small", "Middle", "Large", "Costly"]
    assert rows["Small"].share == rows["Costly"].share == 1
    assert 0.5 < rows["Large"].share < 1
    assert question.address == "choose.html?score=loop&cost=size&open=open"


def table_row(name: str, billions: str, score: float, maximum: float) -> ModelRow:
    """A model with a score in one column, which is known to 4 per cent either way."""
    info = ModelInfo(name, name, parameters=f"{billions}B", open_weights=True, usable=True)
    known = Interval(score - 0.04 * maximum, score + 0.04 * maximum)
    cell = ShownScore(score, maximum, known, "recorded", "", "", "")
    place = IndexRow(50.0, 40.0, 60.0, Rank(1, False, 1, 6), 1)
    return ModelRow(name, info, "", {"runtime_output": cell}, "", place)


def answers_to(rows: Sequence[ModelRow]) -> Mapping[tuple[str, str], Question]:
    draws = np.random.default_rng(0).normal(50, 5, (200, len(rows)))  # of the index, which is not asked for
    places = tuple(row.index for row in rows if row.index)
    (page,) = drafts(AllModels(tuple(rows), Index(places, draws)), {})
    return {(one.score.id, one.words): one for one in questions_of(page)}


def test_shares_and_per_cent_are_on_one_scale() -> None:
    """A share of 0.6 is better than reported 40 per cent, and is shown as per cent, too."""
    reported = [table_row(f"Reported {size}", f"{size}", 10.0 * size, 100.0) for size in (2, 3, 4)]
    own = [table_row("Ours", "20", 0.6, 1.0), table_row("Ours, small", "1", 0.1, 1.0)]
    found = answers_to([*reported, *own])["runtime_output", "open models"]
    assert found.sentence.startswith("Take Ours (20 B): of 5 usable open models with a known size it scores")
    assert "highest in runtime (CRUXEval output), 60.0 (56.0–64.0), and no other" in found.sentence
    assert {row.name: row.score for row in found.rows}["Reported 4"] == "40.0 (36.0–44.0)"


def test_equally_small_models_are_named_together() -> None:
    """Where several of those that cannot be told apart are the smallest, each is named."""
    rows = [table_row(f"Model {size}", f"{max(size, 3)}", 40.0 + size / 10, 100.0) for size in range(1, 6)]
    found = answers_to(rows)["runtime_output", "open models"]
    assert found.sentence == (
        "Take Model 1, Model 2 or Model 3 (3 B each): the smallest of the 5 usable open models that cannot be"
        " told from the best in runtime (CRUXEval output), Model 5 with 40.5 (36.5–44.5)."
    )


def test_only_usable_models_that_ran_are_recommended() -> None:
    """The best two, one retired and one whose replies mostly did not run, are in no sentence."""
    rows = [table_row(f"Model {size}", f"{size}", 10.0 * size, 100.0) for size in range(1, 8)]
    rows[6] = replace(rows[6], info=replace(rows[6].info, usable=False))
    rows[5] = replace(rows[5], ran=0.27)
    found = answers_to(rows)["runtime_output", "open models"]
    assert found.sentence.startswith("Take Model 5 (5 B): of 5 usable open models with a known size")


def test_a_model_without_a_known_cost_is_in_no_question(draft: Draft) -> None:
    """The best model has no known size: no question about sizes names it."""
    assert all("Hidden" not in one.sentence for one in questions_of(draft) if one.cost.id == "size")


def test_the_page_computes_from_the_same_draws(draft: Draft) -> None:
    """Shares computed from the draws in the data file are those of the CSV file."""
    models = script(draft, "data/choose.js")["models"]
    loop = script(draft, "data/choose-loop.js")
    assert isinstance(models, list)
    assert isinstance(loop["rows"], list)
    assert isinstance(loop["draws"], list)
    own = [models[row] for row in loop["rows"]]
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
    rows = [
        row
        for row in csv.DictReader(io.StringIO(table))
        if (row["score"], row["against"]) == ("loop", "size")
    ]
    assert {row["model"]: float(row["frontier_share"]) for row in rows} == {
        own[place]["name"]: pytest.approx(share) for place, share in zip(known, shares, strict=True)
    }


def test_measured_cost_is_offered_where_a_model_has_one(draft: Draft) -> None:
    """The cost of a solved task is an axis only where it was measured."""
    index = script(draft, "data/choose.js")
    assert isinstance(index["models"], list)
    assert {model["name"]: model["solved"] for model in index["models"]}["Middle"] == 0.25
    costs = script(choices({}), "data/choose.js")["costs"]
    assert isinstance(costs, list)
    assert "solved" not in [cost["id"] for cost in costs]


def test_names_cannot_end_a_script(draft: Draft) -> None:
    """No data file holds an opening bracket of a tag."""
    assert all("<" not in file.content for file in draft.files if file.path.endswith(".js"))
