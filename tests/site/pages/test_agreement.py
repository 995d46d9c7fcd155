"""The page of agreement, its scatters and its files."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from support.results import FakeModel
from support.site import add_published, csv_rows, rendered_texts, results_on, small_results
from triathlon_site.build import gather
from triathlon_site.pages import Gathered
from triathlon_site.pages.agreement import graded_matrix


def test_every_pair_of_ranked_columns_is_a_row_of_the_file(
    rich: Gathered, rich_pages: dict[str, str]
) -> None:
    """With how many models have both; in LaTeX, too. Pairs of headlines have a scatter, a dot a model."""
    ranked = [column for board in rich.boards for column in board.shown if column.column.ranked]
    matrix = graded_matrix(rich)
    assert [len(column.values) for column in matrix.columns] == [len(column.scores) for column in ranked]
    found = csv_rows(rich_pages["data/agreement.csv"])
    assert len(found) == len(ranked) * (len(ranked) - 1) // 2
    assert {(row["Models"], row["With a reported figure"]) for row in found} == {("4", "0")}
    assert rich_pages["data/agreement.tex"].count(r"\\") == len(found) + 1
    page, scatters = rich_pages["agreement.html"], rich_pages["agreement-scatters.html"]
    anchors = re.findall(r'<section id="([^"]+)"', scatters)
    assert "loop-asl-and-runtime-ic" in anchors and len(anchors) == len(matrix.between)
    assert {*re.findall(r'href="agreement-scatters.html#([^"]+)"', page)} == {*anchors}
    assert not re.search(r'<td class="(pos|neg)', page), "below ten models no colour"
    assert scatters.count('class="dot"') == 4 * len(anchors)
    assert all(f">{model}<" in scatters for model in rich.results.models)


def test_reported_figures_count_in_the_first_matrix(tmp_path: Path) -> None:
    """Its correlations are those of the file of snapshots; of too few models their number is said."""
    pages = rendered_texts(gather(add_published(small_results(tmp_path / "results")), None))
    models = pd.read_csv(io.StringIO(pages["data/all-snapshots.csv"]))
    rows = csv_rows(pages["data/agreement-all-models.csv"])
    found = {f"{row['Left']} and {row['Right']}": row for row in rows}
    row = found["Loop ASL, MBPP+ and Evolved EvoEval mean"]
    both = models[["loop", "evolved"]].dropna()
    assert int(row["Models"]) == int(row["With a reported figure"]) == len(both) >= 10
    assert float(row["Spearman"]) == pytest.approx(both.corr("spearman").iloc[0, 1], abs=0.005)
    assert re.search(r'<td class="(pos|neg)\d">', pages["agreement.html"])
    page, drawn = pages["agreement.html"], pages["agreement-scatters.html"].count("<section id=")
    few = [row for row in found.values() if int(row["Models"]) < 3]
    assert few and all(f"too few: {row['Models']}<" in page for row in few)
    assert 3 <= drawn <= 15 and len({*re.findall(r'href="(agreement-scatters.html#[^"]+)"', page)}) == drawn


def test_an_outside_ranking_correlates_with_every_column(tmp_path: Path) -> None:
    """A CSV and a row of `sources.csv`: it stands in both matrices, beside every other column."""
    names = {"gpt-4o": "GPT-4o", "gpt-5": "GPT-5", "claude": "Claude Opus 4", "o3": "o3-mini"}
    models = [FakeModel(name, 1.0 - place, 0.9) for place, name in enumerate(names)]
    folder = add_published(results_on(tmp_path, models, "loop/mbpp-plus", tasks=6)) / "published"
    lines = "".join(f"{name},{70 - place}\n" for place, name in enumerate(names.values()))
    (folder / "outside.csv").write_text(f"model,resolved\n{lines}")
    with (folder / "sources.csv").open("a") as file:
        file.write("outside,Outside,A board,its board,2025,per cent of tasks resolved,,\n")
    pages = rendered_texts(replace(gather(tmp_path, None), published_names=names))
    title = "Outside resolved, as published"
    for name, other in (("agreement", "Loop ASL (MBPP+)"), ("agreement-all-models", "Loop ASL, MBPP+")):
        rows = csv_rows(pages[f"data/{name}.csv"])
        (row,) = (row for row in rows if {row["Left"], row["Right"]} == {title, other})
        assert int(row["Models"]) >= 3 and -1 <= float(row["Spearman"]) <= 1
    assert "GPT-4o" in pages["published/outside.html"]
