"""Models side by side: pairs without a script, and the numbers that the script loads."""

import json
from pathlib import Path
from typing import Any

import pytest
from plotly import graph_objects

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries, rendered_texts, small_results
from triathlon_site.build import gather
from triathlon_site.figures import interactive_curve, interactive_radar
from triathlon_site.pages import Gathered
from triathlon_site.pages.compare import BEST, neighbours
from triathlon_site.render import formats


def test_the_best_are_compared_each_with_each(tmp_path: Path) -> None:
    """Five models of seven each with each, then each with the next: 10 and 2 pairs."""
    fakes = [FakeModel(f"m{place}", 2.0 - place / 2, 0.9) for place in range(7)]
    site = gather(small_results(tmp_path / "results", fakes), None)
    overall = site.overalls["core"]
    _, pairs = neighbours(overall, site.models)
    assert len(pairs) == BEST * (BEST - 1) // 2 + 2
    order = [row.model for row in overall.rows]
    assert all(order.index(pair.higher.id) < order.index(pair.lower.id) for pair in pairs)


def test_models_of_one_discipline_are_compared_on_the_board_with_the_most(tmp_path: Path) -> None:
    """Three models that have the loop alone are compared with each other; that of another board with none."""
    loops = [FakeModel(name, skill) for name, skill in (("a", 2.0), ("b", 0.0), ("c", -2.0))]
    for models, suite in ((loops, "loop/core"), ([FakeModel("d")], "runtime/core")):
        write_results(tmp_path / "results", models, [FakeSuite(entry) for entry in entries([suite])])
    site = gather(tmp_path / "results", None)
    _, pairs = neighbours(site.overalls["core"], site.models)
    assert len(pairs) == 3
    assert {model.id for pair in pairs for model in (pair.higher, pair.lower)} == {"a", "b", "c"}
    assert all(len(pair.differences) == 1 and pair.differences[0][0] for pair in pairs)


def scripts(site: Gathered) -> dict[str, Any]:
    """What the files of the page of comparisons say: `index`, and each model's."""
    pages = rendered_texts(site)
    index = json.loads(pages["data/compare.js"].removeprefix("window.triathlonIndex = ").rstrip(";\n"))
    found = {"index": index}
    for model in index["models"]:
        found[model["id"]] = json.loads(
            pages[model["data"]].removeprefix("window.triathlonModel(").removesuffix(");\n")
        )
    return found


def test_the_script_of_a_model_says_what_it_solves(tmp_path: Path) -> None:
    """By suite a sign a task, in the order of the names in the index; `-` for what it did not run."""
    results = small_results(tmp_path / "results")
    partial = [FakeSuite(entry, tasks=12, planned=5) for entry in entries(["evolved/core-seeds"])]
    write_results(results, [FakeModel("weak", -2.0, 0.5)], partial)
    site = gather(results, None)
    found = scripts(site)
    board = next(board for board in site.boards if board.plan.id == "evolved-core")
    tasks = found["index"]["clusters"][found["index"]["clustersOf"]["evolved/core-seeds"]]
    for model in ("strong", "weak"):
        outcomes = {one.task_id: one.outcome for one in board.of_suite("evolved/core-seeds")[model].tasks}
        expected = ["1" if outcomes[t] == "passed" else "0" for t in tasks if t in outcomes]
        signs = found[model]["solved"]["evolved/core-seeds"]
        assert len(tasks) == len(signs) == 12
        assert [sign for sign in signs if sign != "-"] == expected
    assert found["weak"]["solved"]["evolved/core-seeds"].count("-") == 7


def test_differences_are_the_texts_of_the_page(tmp_path: Path) -> None:
    """Every pair has one difference a column, in the file of the model that comes first: the texts of the
    table of neighbours, and a letter for what its interval says.
    """
    fakes = [FakeModel(f"m{place}", 2.0 - place, 0.9) for place in range(4)]
    site = gather(small_results(tmp_path / "results", fakes), None)
    found, overall = scripts(site), site.overalls["core"]
    order = [model["id"] for model in found["index"]["models"]]
    pairs = {(pair.higher.id, pair.lower.id): pair for pair in neighbours(overall, site.models)[1]}
    assert len(pairs) == 6
    turned = str.maketrans("+\N{MINUS SIGN}bw", "\N{MINUS SIGN}+wb")
    for place, board in enumerate(overall.boards):
        column, maximum = f"{board.plan.id} {board.plan.headline.id}", board.plan.headline.maximum
        for (higher, lower), pair in pairs.items():
            first, second = sorted((higher, lower), key=order.index)
            own = next(one for one in found[first]["columns"] if one["id"] == column)
            texts = own["minus"].split(";")
            assert len(texts) == len(order) - order.index(first) - 1
            value, low, high, result = texts[order.index(second) - order.index(first) - 1].split(" ")
            if first != higher:
                value, high, low, result = (text.translate(turned) for text in (value, low, high, result))
            difference, _ = pair.differences[place]
            assert difference
            ends = difference.value, difference.interval.low, difference.interval.high
            assert [value, low, high] == [formats.signed(end, maximum) for end in ends]
            assert result == ("b" if ends[1] > 0 else "w" if ends[2] < 0 else "n")
    assert not any(one["minus"] for one in found[order[-1]]["columns"])


def test_a_pair_without_shared_tasks_has_no_difference(tmp_path: Path) -> None:
    """An empty place in the list; the next pair's stays where it is."""
    results = small_results(tmp_path / "results")
    (results / "runs/weak/loop/core.jsonl").unlink()
    (results / "runs/weak/loop/core.manifest.json").unlink()
    found = scripts(gather(results, None))
    order = [model["id"] for model in found["index"]["models"]]
    texts = found[order[0]]["columns"][0]["minus"].split(";")
    known = [model for model, text in zip(order[1:], texts, strict=True) if text]
    assert known == [model for model in order[1:] if model != "weak"]


def test_a_name_is_plain_text_in_interactive_figures() -> None:
    """Plotly reads a few tags in its texts: a name with one would be a link in the legend."""
    evil = '<a href="https://evil.example/">Evil & Co</a>'
    for trace in (interactive_curve(evil, [1.0]), interactive_radar(evil, ["a"], [1.0])):
        assert trace["name"] == '&lt;a href="https://evil.example/">Evil &amp; Co&lt;/a>'


def test_interactive_figures_show_the_numbers_of_the_pages(tmp_path: Path) -> None:
    """The trace of each model is one that plotly accepts, with the scores that the boards have."""
    site = gather(small_results(tmp_path / "results"), None)
    found = scripts(site)
    loop = next(board for board in site.boards if board.plan.id == "loop-core")
    points = [column for column in loop.columns if column.column.role in {"baseline", "curve"}]
    for model in ("strong", "weak"):
        curve, radar = (graph_objects.Figure(found[model][name]).data[0] for name in ("curve", "radar"))
        assert (curve.type, curve.name, radar.type) == ("scatter", model, "scatterpolar")
        assert list(curve.y) == pytest.approx(
            [100 * column.scores[model].value for column in points], rel=1e-5
        )
        assert list(curve.x) == list(range(1, len(points) + 1))
        assert radar.theta[0] == radar.theta[-1] and radar.r[0] == radar.r[-1]
        assert radar.r[radar.theta.index("loop pass@1")] == pytest.approx(curve.y[0], rel=1e-5)
    for layout in found["index"]["layouts"].values():
        graph_objects.Layout(layout)
