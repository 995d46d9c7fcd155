"""Reported figures: in the tables of the boards, and beside what was measured here."""

import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import PUBLISHED, add_published, entries, published_boards, rendered_texts
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.models_yaml import Price, Registry, row_without_server
from triathlon_site.build import gather
from triathlon_site.pages import Gathered
from triathlon_site.pages.board import board_models
from triathlon_site.pages.published import TRUTH, pairs
from triathlon_site.published import ONLY_PUBLISHED, SAME, read_published
from triathlon_site.scores import Board, plan_boards

MODELS = [FakeModel("gpt-5", 1.0, 0.9), FakeModel("mine", 0.0, 0.5), FakeModel("weak", -2.0, 0.2)]


def site(root: Path, *, published: bool, bits: int | None = None) -> Gathered:
    """Three models on MBPP+'s loop and on MBPP+; `gpt-5` is in EVALOOOP's table.

    Its price is in models.yaml: the price list beside the published tables gives a cost to models without.
    """
    suites = [FakeSuite(entry, tasks=20) for entry in entries(["loop/mbpp-plus", "evolved/humaneval"])]
    write_results(root, MODELS, suites)
    if published:
        add_published(root, {"gpt-5": "GPT-5"})
    known = {"name": "GPT-5", "price": Price(input=1.0, output=8.0), "bits": bits}
    row = row_without_server("gpt-5", "instruct").model_copy(update=known)
    return gather(root, Registry(models=(row,)))


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


def loop(found: Gathered) -> Board:
    return next(board for board in found.boards if board.plan.id == "loop-mbpp-plus")


def test_quantised_weights_are_marked_at_the_name(tmp_path: Path) -> None:
    """Wherever the model that was asked is named; figures that others report are of other weights."""
    pages = rendered_texts(site(tmp_path, published=True, bits=4))
    for path in ("loop-mbpp-plus", "models/gpt-5", "models/gpt-5-tasks", "evidence/gpt-5/loop-mbpp-plus"):
        assert "GPT-5, 4-bit" in pages[f"{path}.html"]
    for path in (TRUTH, "data/choose.js", "all-models.html"):
        assert "GPT-5, 4-bit" in pages[path]
    front = rendered_texts(site(tmp_path / "alone", published=False, bits=4))["index.html"]
    assert "GPT-5, 4-bit</a>" in front.partition('id="table"')[0]
    assert all("GPT-5, 4-bit" in pages[f"data/loop-mbpp-plus.{form}"] for form in ("json", "csv", "tex"))
    rows = pd.read_csv(io.StringIO(pages["data/all-models.csv"])).set_index("model")
    assert rows.loc["GPT-5", "measured_bits"] == 4
    assert any(
        "4-bit" in text for path, text in pages.items() if path.startswith(("index", "data/front-rows"))
    )
    assert "4-bit" not in pages["published/evaloop.html"]


def test_no_number_of_a_model_judged_here_changes(
    with_reported: Gathered, pages: dict[str, str], tmp_path: Path
) -> None:
    """With and without reported rows, every cell of the others is the same, in the table and in its files,
    which have a row a reported figure, with its grade and source and no rank.
    """
    alone = site(tmp_path, published=False)
    assert [loop(alone).headline.scores[m.id] for m in MODELS] == [
        loop(with_reported).headline.scores[m.id] for m in MODELS
    ]
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
    """Ordered by value, the place among all in brackets, no tier, a mark that leads to the table; none of a
    model that was graded here.
    """
    rows = rows_of(pages["loop-mbpp-plus.html"])
    scores = [float(re.search(r'<td class="score[^>]*data-v="([^"]+)"', row)[1]) for row in rows]  # type: ignore[index]
    assert scores == sorted(scores, reverse=True) and len(rows) > 100
    claude = next(row for row in rows if "Claude Opus 4<" in row)
    assert 'href="published/evaloop.html" title="reported by EVALOOOP, 2025-10-30">p</a>' in claude
    assert 'data-grade="reported"' in claude and re.search(r"<small>7\.3\d–8\.\d\d</small>", claude)
    assert "tier" not in claude and " id=" not in claude
    place = rows.index(claude)
    above = sum("<tr id=" in row for row in rows[:place])
    assert f'data-v="{above + 0.5}" data-beside><b>({place + 1})</b>' in claude
    (own,) = (row for row in rows if "GPT-5<" in row)
    assert "published/" not in own


def test_a_column_without_own_scores_is_filled_and_leads_no_rank(with_reported: Gathered) -> None:
    """What a board's own model lacks is filled with what is reported of it; its row keeps its place."""
    names = {"mine": "GPT-4-Turbo (Nov 2023)", "weak": "CodeGen-2B"}
    own = next(board for board in with_reported.boards if board.plan.id == "evolved-official")
    rows = board_models(replace(with_reported, published_names=names), own)
    assert [row.id for row in rows if row.has_results] == list(own.models)
    (mine,) = (row for row in rows if row.id == "mine")
    assert set(mine.figures) == {"evolved/humaneval-plus:pass@1", "evolved/mbpp-plus:pass@1"}


def test_every_published_column_stands_on_a_board_or_says_why_not(pages: dict[str, str]) -> None:
    """No column is forgotten, none is in both lists, every board and column that is named exists, and the
    page of the source says why.
    """
    published = read_published(PUBLISHED)
    columns = {(board.id, c.id) for board in published_boards(published) for c in board.columns if c.ranked}
    same = {place for places in SAME.values() for place in places}
    assert same | set(ONLY_PUBLISHED) == columns and not same & set(ONLY_PUBLISHED)
    plans = [plan for plan in plan_boards(BUILT_IN.entries()) if plan.family == "official"]
    assert SAME.keys() <= {column.id for plan in plans for column in plan.columns}
    reval = " ".join(pages["published/reval.html"].split())
    assert "<dt>state; path; average; IC</dt><dd>REval’s own code has other right answers than ours" in reval


def test_the_overview_counts_models(pages: dict[str, str]) -> None:
    """REval's mean and its run with a chain of thought are rows, no models."""
    (row,) = (row for row in rows_of(pages["published.html"]) if ">REval</a>" in row)
    assert '<td class="number">15</td>' in row


def test_measurements_stand_beside_figures_of_one_model_and_one_quantity(with_reported: Gathered) -> None:
    """Every figure that others report for a measured model, with the difference and its interval."""
    found = list(pairs(with_reported))
    assert {pair.snapshot.info.name for pair in found} == {"GPT-5"}
    assert sorted(pair.reported.value for pair in found) == [0.817, 7.774]
    for pair in found:
        assert pair.difference.value == pytest.approx(pair.own.middle - pair.reported.value)


def test_the_interval_of_their_difference_is_of_both(with_reported: Gathered, pages: dict[str, str]) -> None:
    """Wider than that of either, and zero within it is agreement; the page has a row a pair."""
    (pair,) = (pair for pair in pairs(with_reported) if pair.own.maximum == 1)
    own, theirs = pair.own.interval, pair.reported.interval
    assert theirs.known
    found = pair.difference.interval
    arms = pair.own.middle - own.low, theirs.high - pair.reported.value
    assert pair.difference.value - found.low == pytest.approx(math.hypot(*arms))
    assert found.high - found.low > max(own.high - own.low, theirs.high - theirs.low)
    assert pair.agrees is (found.low <= 0 <= found.high)
    assert pages[TRUTH].count("<tr>") == 3 and "GPT-5" in pages[TRUTH] and ">mine<" not in pages[TRUTH]
