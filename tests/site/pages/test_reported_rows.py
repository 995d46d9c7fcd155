"""Reported figures: in the tables of boards, beside what was measured, and in correlations of columns."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from support.results import FakeModel
from support.site import (
    PUBLISHED,
    add_published,
    board_of,
    csv_rows,
    published_boards,
    registry_of,
    rendered_texts,
    results_on,
    small_results,
)
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.models_yaml import Price
from triathlon_site.build import gather
from triathlon_site.pages import Gathered
from triathlon_site.pages.agreement import graded_matrix
from triathlon_site.pages.board import board_models
from triathlon_site.pages.published import TRUTH, pairs
from triathlon_site.published import ONLY_PUBLISHED, SAME, read_published
from triathlon_site.scores import plan_boards

MODELS = [FakeModel("gpt-5", 1.0, 0.9), FakeModel("mine", 0.0, 0.5), FakeModel("weak", -2.0, 0.2)]


def site(root: Path, *, published: bool, bits: int | None = None) -> Gathered:
    """Three models on two suites; `gpt-5` is in EVALOOOP's table, and has its price from models.yaml."""
    results_on(root, MODELS, "loop/mbpp-plus", "evolved/humaneval", tasks=20)
    if published:
        add_published(root, {"gpt-5": "GPT-5"})
    price = Price(input=1.0, output=8.0)
    return gather(root, registry_of("gpt-5", name="GPT-5", price=price, bits=bits))


@pytest.fixture(scope="module")
def with_reported(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    return site(tmp_path_factory.mktemp("with"), published=True)


@pytest.fixture(scope="module")
def pages(with_reported: Gathered) -> dict[str, str]:
    return rendered_texts(with_reported)


def rows_of(page: str) -> list[str]:
    body = page[page.index("<tbody>") :].partition("</tbody>")[0]
    return re.findall(r"<tr.*?</tr>", body, flags=re.DOTALL)


def cells(row: str) -> list[str]:
    """All but the name and the marks of the grades."""
    return re.findall(r"<td.*?</td>", re.sub(r"<sup>.*?</sup>", "", row), flags=re.DOTALL)


def test_quantised_weights_are_marked_at_the_name(tmp_path: Path) -> None:
    """Wherever the model that was asked is named; figures that others report are of other weights."""
    pages = rendered_texts(site(tmp_path, published=True, bits=4))
    files = [
        f"data/{name}" for name in ("choose.js", *(f"loop-mbpp-plus.{f}" for f in ("json", "csv", "tex")))
    ]
    of_model = ["models/gpt-5.html", "models/gpt-5-tasks.html", "evidence/gpt-5/loop-mbpp-plus.html"]
    for path in (*files, *of_model, "loop-mbpp-plus.html", "all-models.html", TRUTH):
        assert "GPT-5, 4-bit" in pages[path], path
    front = rendered_texts(site(tmp_path / "alone", published=False, bits=4))["index.html"]
    assert "GPT-5, 4-bit</a>" in front.partition('id="table"')[0]
    rows = pd.read_csv(io.StringIO(pages["data/all-models.csv"])).set_index("model")
    assert rows.loc["GPT-5", "measured_bits"] == 4
    assert "4-bit" in "".join(text for path, text in pages.items() if re.match("index|data/front-rows", path))
    assert "4-bit" not in pages["published/evaloop.html"]


def test_numbers_judged_here_stay(with_reported: Gathered, pages: dict[str, str], tmp_path: Path) -> None:
    """In the table and in its files, which have a row a reported figure, with grade, source and no rank."""
    alone = site(tmp_path, published=False)
    one, other = (board_of(found, "loop-mbpp-plus").headline.scores for found in (alone, with_reported))
    assert one == other
    without = rendered_texts(alone)
    own = [cells(row) for row in rows_of(pages["loop-mbpp-plus.html"]) if "<tr id=" in row]
    assert own == [cells(row) for row in rows_of(without["loop-mbpp-plus.html"])]
    board = json.loads(pages["data/loop-mbpp-plus.json"])
    headline = [row for row in board["rows"] if row["column"] == "loop/mbpp-plus:asl_low"]
    assert len(headline) == len(rows_of(pages["loop-mbpp-plus.html"]))
    (claude,) = [row for row in headline if row["name"] == "Claude Opus 4"]
    assert (claude["grade"], claude["source"]) == ("reported", "EVALOOOP, 2025-10-30")
    assert {claude[name] for name in ("model", "rank", "tier", "tasks", "cost_usd")} == {None}
    assert claude["low"] < claude["score"] < claude["high"]
    graded = [row for row in board["rows"] if row["grade"] != "reported"]
    assert graded == json.loads(without["data/loop-mbpp-plus.json"])["rows"]
    frame = pd.read_csv(io.StringIO(pages["data/loop-mbpp-plus.csv"]))
    assert (frame["grade"] == "reported").sum() == len(board["rows"]) - len(graded) > 100


def test_reported_rows_stand_where_their_value_is(pages: dict[str, str]) -> None:
    """With the place among all in brackets, no tier, a mark that leads to the table; none of ours."""
    rows = rows_of(pages["loop-mbpp-plus.html"])
    scores = [float(re.search(r'<td class="score[^>]*data-v="([^"]+)"', row)[1]) for row in rows]  # type: ignore[index]
    assert scores == sorted(scores, reverse=True) and len(rows) > 100
    claude = next(row for row in rows if "Claude Opus 4<" in row)
    assert 'href="published/evaloop.html" title="reported by EVALOOOP, 2025-10-30">p</a>' in claude
    assert 'data-grade="reported"' in claude and re.search(r"<small>7\.3\d–8\.\d\d</small>", claude)
    assert "tier" not in claude and " id=" not in claude
    place = rows.index(claude) + 1
    assert f'data-v="{place}" data-beside><b>({place})</b>' in claude
    for score, row in zip(scores, rows, strict=True):
        if found := re.search(r'<td class="rank" data-v="(\d+)"', row):  # none of our few models
            assert int(found[1]) == 1 + sum(other > score for other in scores)
    (own,) = (row for row in rows if "GPT-5<" in row)
    assert "published/" not in own


def test_a_column_without_own_scores_is_filled_and_leads_no_rank(with_reported: Gathered) -> None:
    """What a board's own model lacks is filled with what is reported of it; its row keeps its place."""
    names = {"mine": "GPT-4-Turbo (Nov 2023)", "weak": "CodeGen-2B"}
    own = board_of(with_reported, "evolved-official")
    rows = board_models(replace(with_reported, published_names=names), own)
    assert [row.id for row in rows if row.has_results] == list(own.models)
    (mine,) = (row for row in rows if row.id == "mine")
    assert set(mine.figures) == {"evolved/humaneval-plus:pass@1", "evolved/mbpp-plus:pass@1"}


def test_every_published_column_stands_on_a_board_or_says_why_not(pages: dict[str, str]) -> None:
    """No column is forgotten or in both lists; every board and column exists; the source's page says why."""
    published = read_published(PUBLISHED)
    columns = {(board.id, c.id) for board in published_boards(published) for c in board.columns if c.ranked}
    same = {place for places in SAME.values() for place in places}
    assert same | set(ONLY_PUBLISHED) == columns and not same & set(ONLY_PUBLISHED)
    assert not [name for name in SAME if name.endswith("pass@5")]  # CRUXEval: another temperature
    plans = [plan for plan in plan_boards(BUILT_IN.entries()) if plan.family == "official"]
    assert SAME.keys() <= {column.id for plan in plans for column in plan.columns}
    reval = " ".join(pages["published/reval.html"].split())
    assert "<dt>state; path; average; IC</dt><dd>REval’s own code has other right answers than ours" in reval


def test_the_overview_counts_models(pages: dict[str, str]) -> None:
    """REval's mean and its run with a chain of thought are rows, no models."""
    (row,) = (row for row in rows_of(pages["published.html"]) if ">REval</a>" in row)
    assert '<td class="number">15</td>' in row


def test_measurements_stand_beside_what_is_reported(with_reported: Gathered, pages: dict[str, str]) -> None:
    """Every figure of a measured model, a row each; the interval of the difference is of both."""
    found = list(pairs(with_reported))
    assert {pair.snapshot.info.name for pair in found} == {"GPT-5"}
    assert sorted(pair.reported.value for pair in found) == [0.817, 7.774]
    for pair in found:
        assert pair.difference.value == pytest.approx(pair.own.middle - pair.reported.value)
    (pair,) = (pair for pair in found if pair.own.maximum == 1)
    span, *both = (one.interval for one in (pair.difference, pair.own, pair.reported))
    assert span.high - span.low > max(one.high - one.low for one in both)
    assert pair.agrees is (span.low <= 0 <= span.high)
    assert pages[TRUTH].count("<tr>") == 3 and "GPT-5" in pages[TRUTH] and ">mine<" not in pages[TRUTH]


def test_every_pair_of_ranked_columns_is_a_row_of_a_file(rich: Gathered, rich_pages: dict[str, str]) -> None:
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
    assert models["model"].is_unique and {*models["page"]} <= pages.keys()
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
        file.write(
            "outside,Outside,A board,its board,2025,per cent of tasks resolved,,resolved||100||headline\n"
        )
    pages = rendered_texts(replace(gather(tmp_path, None), published_names=names))
    title = "Outside resolved, as published"
    for name, other in (("agreement", "Loop ASL (MBPP+)"), ("agreement-all-models", "Loop ASL, MBPP+")):
        rows = csv_rows(pages[f"data/{name}.csv"])
        (row,) = (row for row in rows if {row["Left"], row["Right"]} == {title, other})
        assert int(row["With a reported figure"]) == int(row["Models"]) >= 3
        assert -1 <= float(row["Spearman"]) <= 1
    assert "GPT-4o" in pages["published/outside.html"] and ", but for columns “as" in pages["agreement.html"]
