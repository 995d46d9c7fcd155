"""The page of agreement and the file that its scatters are drawn from."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from plotly import graph_objects

from support.results import FakeModel, FakeSuite, write_results
from support.site import add_published, entries, rendered_texts, small_results
from triathlon_site.build import gather
from triathlon_site.figures import Point, scatter
from triathlon_site.pages.agreement import AgreementColumn, pair_scatter


def test_every_pair_of_columns_has_a_page_a_row_and_a_scatter(tmp_path: Path) -> None:
    """Each column of the script has the scores of a ranked column in the units of its axis, by model; its
    figure is one that plotly accepts; the CSV has a row a pair.
    """
    site = gather(small_results(tmp_path / "results"), None)
    pages = rendered_texts(site)
    script = pages["data/agreement.js"]
    found = json.loads(script.removeprefix("window.triathlonColumns = ").removesuffix(";\n"))
    ranked = [column for board in site.boards for column in board.shown if column.column.ranked]
    assert found["models"] == sorted(site.results.models)
    for own, column in zip(found["columns"], ranked, strict=True):
        times = 100 if column.column.maximum == 1 else 1
        scores = [
            column.scores[model].value if model in column.scores else math.nan for model in found["models"]
        ]
        shown = [math.nan if value is None else value for value in own["values"]]
        assert shown == pytest.approx([times * score for score in scores], nan_ok=True)
    (trace,) = graph_objects.Figure(found["figure"]).data
    assert (trace.type, trace.mode) == ("scatter", "markers")
    assert 'data-columns="0 1"' in pages["agreement/1-2.html"]
    rows = list(csv.DictReader(pages["data/agreement.csv"].splitlines()))
    assert len(rows) == sum(path.startswith("agreement/") for path in pages)
    assert {(row["Models"], row["With a reported figure"]) for row in rows} == {("3", "0")}
    assert pages["data/agreement.tex"].count(r"\\") == len(rows) + 1


def test_reported_figures_count_in_the_first_matrix(tmp_path: Path) -> None:
    """Its correlations are those of the file of snapshots; of too few models the page says how many there
    are, and there is no page of the pair.
    """
    pages = rendered_texts(gather(add_published(small_results(tmp_path / "results")), None))
    models = pd.read_csv(io.StringIO(pages["data/all-snapshots.csv"]))
    rows = list(csv.DictReader(io.StringIO(pages["data/agreement-all-models.csv"])))
    found = {f"{row['Left']} and {row['Right']}": row for row in rows}
    row = found["Loop ASL, MBPP+ and Evolved EvoEval mean"]
    both = models[["loop", "evolved"]].dropna()
    assert int(row["Models"]) == int(row["With a reported figure"]) == len(both) >= 10
    assert float(row["Spearman"]) == pytest.approx(both.corr("spearman").iloc[0, 1], abs=0.005)

    between = (
        pages["agreement.html"].partition("<h2>Between the disciplines</h2>")[2].partition("</table>")[0]
    )
    lines = re.findall(
        r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', between.partition("</table>")[0], re.DOTALL
    )
    counts = [int(found[re.sub("<[^>]*>", "", title)]["Models"]) for title, _ in lines]
    assert counts == sorted(counts, reverse=True) and counts[0] >= 10 and counts[-1] < 3
    for (title, cells), count in zip(lines, counts, strict=True):
        link = re.search(r'href="([^"]*)"', title)
        assert (f"too few: {count}" in cells) is (link is None) is (count < 3)
        assert link is None or link[1] in pages


def test_an_outside_ranking_correlates_with_every_column(tmp_path: Path) -> None:
    """A CSV and a row of `sources.csv`: it stands in both matrices, beside every other column."""
    names = {"gpt-4o": "GPT-4o", "gpt-5": "GPT-5", "claude": "Claude Opus 4", "o3": "o3-mini"}
    models = [FakeModel(name, 1.0 - place, 0.9) for place, name in enumerate(names)]
    write_results(tmp_path, models, [FakeSuite(entry, tasks=6) for entry in entries(["loop/mbpp-plus"])])
    folder = add_published(tmp_path) / "published"
    rows = "".join(f"{name},{70 - place}\n" for place, name in enumerate(names.values()))
    (folder / "outside.csv").write_text(f"model,resolved\n{rows}")
    with (folder / "sources.csv").open("a") as file:
        file.write("outside,Outside,A board,its board,2025,per cent of tasks resolved,,\n")
    site = replace(gather(tmp_path, None), published_names=names)
    pages = rendered_texts(site)
    title = "Outside resolved, as published"
    for name, other in (("agreement", "Loop ASL (MBPP+)"), ("agreement-all-models", "Loop ASL, MBPP+")):
        found = csv.DictReader(io.StringIO(pages[f"data/{name}.csv"]))
        (row,) = (row for row in found if {row["Left"], row["Right"]} == {title, other})
        assert int(row["Models"]) >= 3 and -1 <= float(row["Spearman"]) <= 1
    assert "published/outside.html" in pages and "GPT-4o" in pages["published/outside.html"]


def column(title: str, values: dict[str, float], maximum: float = 100.0) -> AgreementColumn:
    return AgreementColumn(title, maximum, values, "loop")


def test_a_pair_of_columns_is_the_scatter_of_the_models_that_both_have() -> None:
    """Each named beside its dot where there are few of them."""
    names = {"a": "A", "<b>": "<B>", "c": "C", "d": "D"}
    left = column("Left & co", {"a": 0.1, "<b>": 0.5, "c": 0.3}, 1.0)
    points = [Point("<B>", 0.5, 70, label=True), Point("C", 0.3, 20, label=True)]
    assert pair_scatter(left, column("Right", {"<b>": 70.0, "d": 9.0, "c": 20.0}), names) == scatter(
        "Right against Left & co",
        points,
        x_title="Left & co",
        y_title="Right",
        x_maximum=1.0,
        y_maximum=100.0,
    )


def test_of_many_models_a_pair_names_those_that_it_places_most_apart() -> None:
    """The last of thirteen by one column that is the first by the other, not those in the same place."""
    names = [f"m{place}" for place in range(13)]
    left = column("x", {name: place for place, name in enumerate(names)})
    right = column("y", {name: (place + 1) % 13 for place, name in enumerate(names)})
    named = re.findall(
        r'class="note"[^>]*>(\w+)<', pair_scatter(left, right, dict(zip(names, names, strict=True)))
    )
    assert named[0] == "m12" and len(named) == 3
