"""Models side by side, and choosing one: the numbers that the scripts of these pages load."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plotly import graph_objects

from support.choices import choices, data_of, rendered, scored
from support.results import FakeModel
from support.site import board_of, rendered_texts, results_on, script_data, small_results
from triathlon_site.build import gather
from triathlon_site.figures import interactive_curve, interactive_radar
from triathlon_site.overall_index import Index
from triathlon_site.pages import Gathered
from triathlon_site.pages.all_models import AllModels
from triathlon_site.pages.choose import COSTS, PRICE, cost_text, drafts
from triathlon_site.ranking import REPORTED
from triathlon_site.render import Draft, formats


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """Three models; the weak one has no loop but that of translations, and ran a part of one set."""
    results = small_results(tmp_path_factory.mktemp("compare") / "results")
    shutil.rmtree(results / "runs/weak/loop")
    results_on(results, [FakeModel("weak", -2.0, 0.5)], "evolved/core-seeds", tasks=12, planned=5)
    results_on(results, [FakeModel("weak", 2.0, 0.5)], "translation/core", tasks=12)
    return gather(results, None)


@pytest.fixture(scope="module")
def scripts(site: Gathered) -> dict[str, Any]:
    """What the files of the page of comparisons say: `index`, and each model's."""
    pages = rendered_texts(site)
    index = script_data(pages["data/compare.js"])
    of_models = {model["id"]: script_data(pages[model["data"]]) for model in index["models"]}
    return {"index": index, **of_models}


def test_the_script_of_a_model_says_what_it_solves(site: Gathered, scripts: dict[str, Any]) -> None:
    """By suite a sign a task, in the order of the names in the index; `-` for what it did not run."""
    board = board_of(site, "evolved-core")
    index = scripts["index"]
    tasks = index["clusters"][index["clustersOf"]["evolved/core-seeds"]]
    for model in ("strong", "weak"):
        outcomes = {one.task_id: one.outcome for one in board.of_suite("evolved/core-seeds")[model].tasks}
        signs = scripts[model]["solved"]["evolved/core-seeds"]
        assert len(tasks) == len(signs) == 12
        expected = ["1" if outcomes[t] == "passed" else "0" for t in tasks if t in outcomes]
        assert [sign for sign in signs if sign != "-"] == expected
    assert scripts["weak"]["solved"]["evolved/core-seeds"].count("-") == 7


def test_a_suite_with_several_metrics_of_solving_counts_its_tasks_once(tmp_path: Path) -> None:
    """CRUXEval has pass@1 and pass@5: one column of the two has the tasks that a model solves."""
    recorded = Path(__file__).parents[3] / "results/recorded"
    for model in ("phi-1", "phi-1.5"):
        shutil.copytree(recorded / "cruxeval" / model, tmp_path / "recorded/cruxeval" / model)
    shutil.copy(recorded / "sources.yaml", tmp_path / "recorded")
    index = script_data(rendered_texts(gather(tmp_path, None))["data/compare.js"])
    solving = [column["id"].partition(":")[2] for column in index["columns"] if column["solving"]]
    assert solving == ["pass@1", "pass@1"] and len(index["columns"]) == 4


def test_every_pair_has_one_difference_a_column(site: Gathered, scripts: dict[str, Any]) -> None:
    """In the file of the model that comes first, with a letter for what its interval says."""
    order = [model["id"] for model in scripts["index"]["models"]]
    columns = {f"{b.plan.id} {c.column.id}": c for b in site.boards for c in b.shown}
    for first, model in enumerate(order[:-1]):
        for own in scripts[model]["columns"]:
            column = columns[own["id"]]
            rows, maximum = column.samples[0].models, column.column.maximum
            for rival, text in zip(order[first + 1 :], own["minus"].split(";"), strict=True):
                known = rival in rows
                found = column.differences.of(rows.index(model), rows.index(rival)) if known else None
                if not found:
                    assert text == ""
                    continue
                ends = found.value, found.interval.low, found.interval.high
                result = "b" if ends[1] > 0 else "w" if ends[2] < 0 else "n"
                assert text.split(" ") == [*(formats.signed(end, maximum) for end in ends), result]
    loop = next(one for one in scripts[order[0]]["columns"] if one["id"].startswith("loop-core"))
    texts = zip(order[1:], loop["minus"].split(";"), strict=True)
    assert [model for model, text in texts if not text] == ["weak"]


def test_whom_the_page_sets_beside_a_model(site: Gathered, scripts: dict[str, Any], tmp_path: Path) -> None:
    """The best that shares tasks with it, on the board with most models; nobody where none does."""
    index = scripts["index"]
    rivals = {model["id"]: model["rival"] for model in index["models"]}
    assert index["start"] == "strong" != rivals["strong"]
    assert {rival for model, rival in rivals.items() if model != "strong"} == {"strong"}
    results_on(tmp_path, [FakeModel("one", 1.0, 0.9), FakeModel("two", 0.0, 0.9)], "loop/core", tasks=10)
    results_on(tmp_path, [FakeModel("other", 2.0, 0.9)], "runtime/core", tasks=10)
    index = script_data(rendered_texts(gather(tmp_path, None))["data/compare.js"])
    rivals = {model["id"]: model["rival"] for model in index["models"]}
    assert (rivals, index["start"]) == ({"one": "two", "two": "one", "other": None}, "one")


def test_interactive_figures_show_the_numbers_of_the_pages(site: Gathered, scripts: dict[str, Any]) -> None:
    """Plotly accepts the trace of each model; its name is plain text, as plotly reads a few tags in texts."""
    loop = board_of(site, "loop-core")
    points = [column for column in loop.columns if column.column.role in {"baseline", "curve"}]
    (curve,) = graph_objects.Figure(scripts["strong"]["curves"]["loop-core"]).data
    assert (curve.type, curve.name) == ("scatter", "strong")
    values = [100 * column.scores["strong"].value for column in points]
    assert list(curve.y) == pytest.approx(values, rel=1e-5)
    assert list(curve.x) == list(range(1, len(points) + 1))
    assert "loop-core" not in scripts["weak"]["curves"]
    (radar,) = graph_objects.Figure(scripts["strong"]["radar"]).data
    assert (radar.type, radar.name) == ("scatterpolar", "strong")
    assert radar.theta[0] == radar.theta[-1] and radar.r[0] == radar.r[-1]
    assert radar.r[radar.theta.index("loop pass@1")] == pytest.approx(values[0], rel=1e-5)
    assert scripts["weak"]["radar"]["r"][radar.theta.index("loop pass@1")] is None
    for layout in scripts["index"]["layouts"].values():
        graph_objects.Layout(layout)
    evil = '<a href="https://evil.example/">Evil & Co</a>'
    for trace in (interactive_curve(evil, [1.0]), interactive_radar(evil, ["a"], [1.0])):
        assert trace["name"] == '&lt;a href="https://evil.example/">Evil &amp; Co&lt;/a>'


@pytest.fixture(scope="module")
def draft() -> Draft:
    return choices({"middle": 0.25})


def test_dominated_models_are_not_listed(draft: Draft) -> None:
    """Twin is as large as Middle and worse; a model without a known size is not asked about."""
    (frontier,) = draft.values["questions"]
    assert frontier.head[1] == "Size"
    assert [name.text for name, *_ in frontier.rows] == ["Small", "Middle", "Large", "Costly"]
    assert "9.50 (9.10–9.90)" in rendered(draft)


def test_the_script_gets_who_cannot_be_told_from_whom(draft: Draft) -> None:
    """A bit a model; no name can end a script; a measured cost is an axis only where a model has one."""
    found = data_of(draft)
    loop = next(score for score in found["scores"] if score["id"] == "loop")
    names = [found["models"][row]["name"] for row in loop["rows"]]
    bits = [np.unpackbits(np.frombuffer(bytes.fromhex(row), np.uint8)) for row in loop["alike"]]
    places = map(np.flatnonzero, bits)
    alike = {name: {names[place] for place in of} for name, of in zip(names, places, strict=True)}
    assert alike["Large"] == {"Large", "Middle", "Costly", "Hidden"}  # the last two score higher
    assert "Middle" in alike["Middle"] and "Small" not in alike["Middle"]
    assert {model["name"]: model["solved"] for model in found["models"]}["Middle"] == 0.25
    assert "solved" not in [cost["id"] for cost in data_of(choices({}))["costs"]]
    assert all("<" not in file.content for file in draft.files if file.path.endswith(".js"))


def test_a_stated_cost_is_shown_whole() -> None:
    """As on the other pages; a computed one has three digits, and none an exponent."""
    for price, shown in ((0.1375, "$0.1375"), (1e-05, "$0.00001"), (12345678.0, "$12345678")):
        assert cost_text(PRICE, price) == f"{shown} / M"
    assert [formats.gigabytes(size) for size in (0.27, 16.06, 1342.0)] == ["0.27", "16.1", "1,342"]
    (solved,) = (cost for cost in COSTS if cost.id == "solved")
    assert cost_text(solved, 0.00123456) == "$0.00123 / solved task"


def test_without_any_cost_the_page_says_what_is_missing() -> None:
    """Its script has nothing to draw and does not run."""
    row = scored("Model", 1, 5.0)
    row = replace(row, info=replace(row.info, parameters=None))
    assert row.index
    (page,) = drafts(AllModels((row,), Index((row.index,), np.zeros((10, 1)))), None, {})
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
    (page,) = drafts(AllModels(tuple(rows), Index(places, np.zeros((10, len(rows))))), None, {})
    (frontier,) = page.values["questions"]
    assert [name.text for name, *_ in frontier.rows] == [f"Model {size}" for size in range(1, 6)]
    assert {score["id"]: score["origin"].partition(" and ")[0] for score in data_of(page)["scores"]} == {
        "loop": "1 of 1 scores were reported by others",
        "runtime_output": "",
        "index": "1 of 7 scores rest on figures that others reported",
    }
    assert page.values["origin"] in rendered(page)
