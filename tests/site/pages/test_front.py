"""The front page: every model of any grade of evidence once, with the overall index."""

import csv
import hashlib
import io
import json
import re
import shutil
from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries, page_text, rendered_texts, small_results
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.submit import FileCheck, SubmissionReport, statement
from triathlon_site.build import build, gather
from triathlon_site.load import Results
from triathlon_site.pages import Gathered
from triathlon_site.pages.front import AllModels, ModelRow, all_models
from triathlon_site.published import Published

FOLDER = Path(__file__).parents[3] / "results" / "published"
EVOEVAL = ("humaneval", "difficult", "creative", "subtle", "combine", "tool_use")


@pytest.fixture(scope="module")
def reported(published: Published) -> AllModels:
    """The table where nothing was measured or recorded."""
    return all_models(Gathered(Results((), {}, ()), (), {}, {}, "", "", published))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """Published tables, a model of theirs that was measured, and one that they do not have."""
    root = tmp_path_factory.mktemp("measured")
    suites = ["loop/mbpp-plus", "runtime/dreval", *(f"evolved/{name}" for name in EVOEVAL)]
    models = [FakeModel("gpt-5", 1.0, 0.9), FakeModel("mine", 0.0, 0.5)]
    write_results(root, models, [FakeSuite(entry, tasks=6) for entry in entries(suites)])
    write_results(root, [FakeModel("ours")], [FakeSuite(entry, tasks=3) for entry in entries(["loop/core"])])
    handed_in = FileCheck(
        "loop/mbpp-plus", hashlib.sha256((root / "runs/mine/loop/mbpp-plus.jsonl").read_bytes()).hexdigest()
    )
    report = SubmissionReport("mine", ENGINE_VERSION, [handed_in], [], listed=True)
    (root / "runs/mine/verified.json").write_text(json.dumps(statement(report)))
    shutil.copytree(FOLDER, root / "published")
    (root / "recorded").mkdir()
    (root / "recorded/names.csv").write_text("id,name\ngpt-5,GPT-5\n")
    return gather(root, None)


@pytest.fixture(scope="module")
def pages(measured: Gathered) -> dict[str, str]:
    return rendered_texts(measured)


def lines(pages: dict[str, str]) -> dict[str, dict[str, str]]:
    return {row["model"]: row for row in csv.DictReader(io.StringIO(pages["data/all-models.csv"]))}


def row_of(page: str, slug: str) -> str:
    return page[page.index(f'<tr id="{slug}"') :].partition("</tr>")[0]


def by_name(found: AllModels) -> dict[str, ModelRow]:
    return {row.name: row for row in found.rows}


def test_every_model_has_one_row(reported: AllModels) -> None:
    """All models with a figure are there, once, by the index; behind them those with REval's IC alone."""
    names = [row.name for row in reported.rows]
    assert len(names) == len(set(names)) > 240
    ranks = [row.index.rank for row in reported.rows if row.index]
    assert [rank.rank for rank in ranks] == sorted(rank.rank for rank in ranks)
    assert ranks[0].rank == 1 and all(row.index for row in reported.rows[: len(ranks)])
    assert all(set(row.cells) == {"reval_ic"} for row in reported.rows[len(ranks) :])


def test_new_models_with_a_single_column_are_not_hidden(reported: AllModels) -> None:
    """The strongest models of the loop, which have no other column, stand among the first twenty."""
    assert {"GPT-5", "Claude Opus 4", "Claude Sonnet 4"} <= {row.name for row in reported.rows[:20]}


def test_figures_are_those_of_the_tables(reported: AllModels) -> None:
    """A cell shows what its table says, and never anything where no table has the model."""
    best = by_name(reported)["Claude Opus 4"]
    assert best.cells["loop"].value == 7.786
    assert set(best.cells) == {"loop"}
    assert best.index and best.index.columns == 1
    assert best.cells["loop"].note == "reported by EVALOOOP, 2025-10-30"


def test_a_score_that_was_judged_again_has_the_tick(pages: dict[str, str]) -> None:
    """Of all measured scores only the one whose file a statement names; the title says it in words."""
    page = pages["index.html"]
    assert row_of(page, "mine").count(">m✓</a>") == page.count(">m✓</a>") == 1
    assert 'title="measured, graded again here, ' in row_of(page, "mine")


def test_a_measured_score_takes_the_place_of_a_reported_one(
    reported: AllModels, measured: Gathered, pages: dict[str, str]
) -> None:
    """Of a model whose name is joined: one row, its own score and receipt, the reported one beside it."""
    found = lines(pages)
    in_index = [row for row in reported.rows if row.index]
    assert len(found) == len(in_index) + 1  # `mine`; `ours` has no column of the index
    own = measured.boards[[board.plan.id for board in measured.boards].index("loop-mbpp-plus")].headline
    assert float(found["GPT-5"]["loop"]) == pytest.approx(own.scores["gpt-5"].value / 10, abs=1e-6)
    assert found["GPT-5"]["loop_grade"] == found["mine"]["evolved_grade"] == "measured"
    row = row_of(pages["index.html"], "gpt-5")
    assert 'href="models/gpt-5.html#receipt-loop-mbpp-plus" title="measured, 2026-01-02">m</a>' in row
    assert re.search(r'reported by EVALOOOP:\s<a href="published/evaloop.html">7.77</a>', row)
    assert row.count('title="tier') == 3


def test_the_index_knows_how_many_tasks_a_score_rests_on(pages: dict[str, str]) -> None:
    """Independent tasks of results: problems evolved from one seed count once."""
    row = lines(pages)["mine"]
    assert float(row["loop_tasks"]) == 6
    assert float(row["runtime_consistency_tasks"]) == 2
    assert float(row["evolved_tasks"]) == 6
    assert lines(pages)["Claude Opus 4"]["loop_tasks"] == ""
    assert float(row["index_high"]) - float(row["index_low"]) > 10


def test_a_model_of_our_own_problems_alone_is_found_too(pages: dict[str, str]) -> None:
    """It has a row without a rank, which leads to the board of our own problems."""
    row = row_of(pages["index.html"], "ours")
    assert '<td class="rank" data-v="">' in row and "data-p" not in row
    assert 'href="overall-core.html#ours"' in row
    assert 'id="ours"' in pages["overall-core.html"]


def test_rows_say_what_filters_ask_for(pages: dict[str, str]) -> None:
    """Disciplines with a result, grades of evidence, and what is known of the model."""
    row = row_of(pages["index.html"], "mine").partition(">")[0]
    assert 'data-has="loop runtime evolved"' in row
    assert 'data-grade="measured"' in row
    row = row_of(pages["index.html"], "gpt-5").partition(">")[0]
    assert 'data-org="OpenAI"' in row and 'data-year="2025"' in row


def test_the_first_screen_answers_in_sentences(pages: dict[str, str]) -> None:
    """Who leads each discipline, the best open model under 10 B, how old the figures are."""
    found = pages["index.html"].partition('<ul class="findings')[2].partition("</ul>")[0]
    said = re.sub(r"<[^>]+>", "", found)
    said = " ".join(said.split())
    assert re.search(r"Loop ?(GPT-5|mine) leads MBPP\+ with ASL [\d.]+ \([\d.]+–[\d.]+\)", said)
    assert "Higher, but not checked: Claude Opus 4 with 7.79 (7.33–8.19), as reported by EVALOOOP" in said
    assert (
        "GPT-4o (CRUXEval) leads CRUXEval’s outputs with 70.0 (66.6–73.1), as reported by CRUXEval, 2024-12"
        in said
    )
    assert re.search(r"Under 10 B ?Best of \d+ open models: ", said)
    assert "Measured figures are of 2026-01-02, reported figures are from 2024 to 2025-10-30." in said


def test_a_name_that_is_not_joined_has_a_row_of_its_own(tmp_path: Path) -> None:
    """A model that was measured under the name of a published one is not taken for it."""
    results = tmp_path / "results"
    write_results(
        results, [FakeModel("GPT-5")], [FakeSuite(one, tasks=4) for one in entries(["loop/mbpp-plus"])]
    )
    shutil.copytree(FOLDER, results / "published")
    build(results, tmp_path / "_site", None)
    names = (tmp_path / "_site/data/all-models.csv").read_text()
    assert "\nGPT-5 (measured here)," in names and "\nGPT-5 (EVALOOOP)," in names


def test_results_alone_make_a_front_page(tmp_path: Path) -> None:
    """Without published tables the measured models stand there; a column that nobody has stays empty."""
    write_results(
        tmp_path / "results",
        [FakeModel("one"), FakeModel("two", -1.0)],
        [FakeSuite(one, tasks=8) for one in entries(["loop/mbpp-plus"])],
    )
    build(tmp_path / "results", tmp_path / "_site", None)
    page = page_text(tmp_path / "_site/index.html")
    assert page.count("<tr id=") == 2
    assert "Nothing was measured on" in page_text(tmp_path / "_site/overall-core.html")


def test_a_leader_without_doubt_is_one_of_those_that_were_graded_here(tmp_path: Path) -> None:
    """The sentence counts them: a higher figure that was only reported may stand right behind it."""
    suites = [FakeSuite(one, tasks=40) for one in entries(["loop/mbpp-plus"])]
    write_results(tmp_path / "results", [FakeModel("one", 3.0), FakeModel("two", -3.0)], suites)
    build(tmp_path / "results", tmp_path / "_site", None)
    page = " ".join(page_text(tmp_path / "_site/index.html").split())
    assert "Of 2 models graded here no other comes close enough to doubt it." in page


def test_without_official_results_the_front_page_is_our_own_problems(tmp_path: Path) -> None:
    """There is nothing else to show, and no second page of it."""
    build(small_results(tmp_path / "results", tasks=4), tmp_path / "_site", None)
    assert 'data-table="overall"' in page_text(tmp_path / "_site/index.html")
    assert not (tmp_path / "_site/overall-core.html").exists()


def test_nothing_at_all_says_what_to_do(tmp_path: Path) -> None:
    """No results and no tables: the commands that make some."""
    (tmp_path / "results").mkdir()
    build(tmp_path / "results", tmp_path / "_site", None)
    assert "triathlon run --profile quick" in page_text(tmp_path / "_site/index.html")


def test_known_facts(published: Published, reported: AllModels) -> None:
    """At least 84 % of the models have organisation, weights, size or that it is undisclosed, and month.

    The six newest of EVALOOOP's board have no row of facts yet.
    """
    known = [
        one
        for one in (row.info for row in reported.rows if row.index)
        if one.organization and one.open_weights is not None and one.parameters and one.released
    ]
    assert len(known) >= 0.84 * sum(row.index is not None for row in reported.rows)
    names = {record["model"] for table in published.tables.values() for record in table}
    assert set(published.facts) <= names | {alias["model"] for alias in published.aliases}
