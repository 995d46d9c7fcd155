"""The front page: every model of any grade of evidence once, with the overall index."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, fake_records, write_file
from support.site import (
    add_published,
    board_of,
    change,
    csv_rows,
    entries,
    judged_again,
    rendered_texts,
    results_on,
    script_data,
    small_results,
)
from triathlon_runner.records import LoopRecord
from triathlon_site.build import gather
from triathlon_site.load import Results
from triathlon_site.pages import Gathered
from triathlon_site.pages._scores import places as places_of
from triathlon_site.pages.agreement import graded_matrix
from triathlon_site.pages.all_models import (
    RANKED_BY,
    AllModels,
    ModelRow,
    all_models,
    default_column,
    in_order,
    ranks_in,
)
from triathlon_site.pages.model import drafts as model_drafts
from triathlon_site.published import Published
from triathlon_site.ranking import Score
from triathlon_site.uncertainty import Interval

EVOEVAL = ("humaneval", "difficult", "creative", "subtle", "combine", "tool_use")


def test_a_score_with_open_units_is_in_no_cell(tmp_path: Path) -> None:
    """What is missing may be what the model fails."""
    results_on(tmp_path, [FakeModel("whole"), FakeModel("stopped")], "loop/mbpp-plus", tasks=6)
    change(tmp_path / "runs/stopped/loop/mbpp-plus.manifest.json", open_units=2)
    cells = {row.info.id: set(row.cells) for row in all_models(gather(tmp_path, None)).rows}
    assert "loop" in cells["whole"] and not cells.get("stopped")


def test_a_site_without_a_row_in_the_table_leads_to_its_boards(tmp_path: Path) -> None:
    """Who measured HumanEval alone has no column of the table: the page says so, not "0 models"."""
    results_on(tmp_path, [FakeModel("one"), FakeModel("two")], "evolved/humaneval", tasks=4)
    pages = rendered_texts(gather(tmp_path, None))
    page = pages["index.html"]
    assert not re.search("0 models|<table|CSV|Cite", page) and 'href="all-models.html"' in page
    assert re.search(r"The scores that there are:\s+<a href=\"evolved-official.html\">", page)
    assert "no model has a score in a column of the table" in pages["choose.html"]
    assert "each with its cause" not in pages["method.html"]


@pytest.fixture(scope="module")
def reported(published: Published) -> AllModels:
    """The table where nothing was measured or recorded."""
    return all_models(Gathered(Results((), ()), (), {}, {}, "", "", published))


@pytest.fixture(scope="module")
def rows(reported: AllModels) -> dict[str, ModelRow]:
    return {row.name: row for row in reported.rows}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    """Published tables, a model of theirs that was measured, and four that they do not have."""
    root = tmp_path_factory.mktemp("measured")
    models = [FakeModel("gpt-5", 1.0, 0.9), FakeModel("mine", 0.0, 0.5)]
    models += [FakeModel(name, -9.0, 0.1) for name in ("weak", "weaker", "weakest")]
    evoeval = [f"evolved/{name}" for name in EVOEVAL]
    results_on(root, models, "loop/mbpp-plus", "runtime/dreval", *evoeval, tasks=6)
    results_on(root, [FakeModel("ours")], "loop/core", tasks=3)
    (root / "runs/mine/verified.json").write_text(judged_again(root, "mine", "loop/mbpp-plus"))
    return gather(add_published(root, {"gpt-5": "GPT-5"}), None)


@pytest.fixture(scope="module")
def pages(measured: Gathered) -> dict[str, str]:
    return rendered_texts(measured)


def lines(pages: dict[str, str]) -> dict[str, dict[str, str]]:
    return {row["model"]: row for row in csv_rows(pages["data/all-models.csv"])}


def all_rows(pages: dict[str, str]) -> str:
    """The front page, and behind it the rows that stand in scripts of their own."""
    return pages["index.html"] + later_rows(pages)


def later_rows(pages: dict[str, str]) -> str:
    scripts = "\n".join(pages[path] for path in sorted(pages) if path.startswith("data/front-rows-"))
    return "".join(map(json.loads, re.findall(r"^ *body.innerHTML = (.*);$", scripts, re.MULTILINE)))


def row_of(pages: dict[str, str], slug: str) -> str:
    page = all_rows(pages)
    return page[page.index(f'<tr id="{slug}"') :].partition("</tr>")[0]


def test_every_model_has_one_row(reported: AllModels) -> None:
    """All models with a figure are there, once, by the index; behind them those with REval's IC alone."""
    names = [row.name for row in reported.rows]
    assert len(names) == len(set(names)) > 220
    ranks = [row.index.rank for row in reported.rows if row.index]
    assert [rank.rank for rank in ranks] == sorted(rank.rank for rank in ranks)
    assert ranks[0].rank == 1 and all(row.index for row in reported.rows[: len(ranks)])
    assert all(set(row.cells) == {"reval_ic"} for row in reported.rows[len(ranks) :])


def test_snapshots_of_a_product_share_a_row(rows: Mapping[str, ModelRow]) -> None:
    """Each cell says of which, the index rests on one; what may be another's name says so, and the other."""
    cells, index = rows["GPT-4o"].cells, rows["GPT-4o"].index
    assert set(cells) == {"loop", "runtime_output", "evolved", "humaneval_plus", "mbpp_plus"}
    assert cells["humaneval_plus"].note.endswith("; snapshot Aug 2024")
    assert cells["loop"].note.endswith("; snapshot not stated")
    assert index and index.columns == 2
    assert {"GPT-4-Turbo", "GPT-4-Turbo (Nov 2023)"} == {n for n in rows if n.startswith("GPT-4-Turbo")}
    assert sum(len(row.cells.keys() - {"reval_ic"}) >= 3 for row in rows.values()) > 45
    for name, other in (("Claude-3", "Claude 3 Opus"), ("Claude 3 Opus", "Claude-3")):
        assert [card.info.name for card, _ in rows[name].may_be] == [other]


def test_every_name_leads_to_a_page_with_all_numbers(measured: Gathered, pages: dict[str, str]) -> None:
    """Also of a model that was only reported: index, figures of every source, availability and price."""
    assert {row.info.page for row in all_models(measured).rows} <= pages.keys()
    page = " ".join(pages["models/gpt-4o.html"].split())
    for text in ("until 2027-01-14", "snapshot Aug 2024", "snapshot not stated", "EvalPlus", "EVALOOOP"):
        assert text in page
    names = {"mine": "GPT-4o (Aug 2024)", "weak": "GPT-4o (May 2024)"}
    site = replace(measured, published_names=names)
    rows = {row.info.id: row for row in all_models(site).rows}
    drafts = {one.path: one.values.get("place") for one in model_drafts(site, [site.card_of["weak"]], rows)}
    assert drafts["models/mine.html"] and not drafts["models/weak.html"], (
        "only the row's own page has its numbers"
    )
    evoeval = pages["published/evoeval.html"]
    assert '<a href="../models/gpt-4o.html">' in evoeval
    drops = evoeval[evoeval.index('<section id="drops">') :].partition("</table>")[0]
    assert drops.count('<th scope="row"><a href="../models/') == drops.count('<th scope="row">') - 2 > 50
    table = evoeval[: evoeval.index('<section id="drops">')]
    assert {*re.findall(r'"(../models/[^"]+">[^<]+)<', drops)} <= {
        *re.findall(r'"(../models/[^"]+">[^<]+)<', table)
    }
    assert "only where\n70 % of measured replies ran" in pages["choose.html"]
    assert 'href="models/gpt-4o.html"' in pages["choose.html"] or "GPT-4o" not in pages["choose.html"]


def test_a_measured_score_takes_the_place_of_a_reported_one(
    reported: AllModels, measured: Gathered, pages: dict[str, str]
) -> None:
    """One row, its own score and receipt, the reported one beside it. One score was judged again."""
    found = lines(pages)
    in_index = [row for row in reported.rows if row.index]
    assert len(found) == len(in_index) + 4  # `mine` and weak ones; `ours` has no column of the index
    own = board_of(measured, "loop-mbpp-plus").headline
    assert float(found["GPT-5"]["loop"]) == pytest.approx(own.scores["gpt-5"].value / 10, abs=1e-6)
    assert found["GPT-5"]["loop_grade"] == found["mine"]["evolved_grade"] == "measured"
    row = row_of(pages, "gpt-5")
    assert 'href="models/gpt-5.html#receipt-loop-mbpp-plus" title="measured, 2026-01-02">m</a>' in row
    assert re.search(r'reported by EVALOOOP:\s<a href="published/evaloop.html">7.77</a>', row)
    assert row.count('title="tier') == 3
    assert script_data(pages["data/compare/gpt-5.js"])["radar"], "axes are those of the data of most models"
    own_rank = own.scores["gpt-5"].rank
    assert own_rank and re.search(rf'data-r="\d+ {own_rank.rank} {own_rank.low} {own_rank.high}"', row)
    mine = row_of(pages, "mine")
    assert mine.count(">m✓</a>") == all_rows(pages).count(">m✓</a>") == 1
    assert 'title="measured, graded again here, ' in mine
    line = found["mine"]
    tasks = {name: float(line[f"{name}_tasks"]) for name in ("loop", "runtime_consistency", "evolved")}
    assert tasks == {"loop": 6, "runtime_consistency": 2, "evolved": 6}  # problems of one seed count once
    assert found["Claude Opus 4"]["loop_tasks"] == ""
    assert float(line["index_high"]) - float(line["index_low"]) > 10


def test_a_range_of_scores_counts_as_its_middle_everywhere(tmp_path: Path) -> None:
    """Of loops without a judge: in each order the middle counts, and both ends are shown."""
    (suite,) = entries(["loop/mbpp-plus"])
    for model, similarity in (("unjudged", None), ("judged", 0.4), ("weaker", 0.1)):
        records = [
            record.model_copy(update={"model": model, "similarity": record.similarity and similarity})
            for record in fake_records(FakeModel("one", 1.0, 0.7), FakeSuite(suite))
            if isinstance(record, LoopRecord)
        ]
        write_file(tmp_path, model, suite.id, records, FakeSuite(suite))
    site = gather(tmp_path, None)
    order = ["unjudged", "judged", "weaker"]
    (loop,) = site.boards
    low, judged = (loop.headline.scores[model] for model in order[:2])
    assert low.upper is not None and low.value < judged.value < low.middle < low.upper
    assert list(loop.models) == order
    rows = all_models(site).rows
    assert [row.name for row in rows] == [row.name for row in in_order(rows, RANKED_BY[0])] == order
    (values,) = (c.values for c in graded_matrix(site).columns if c.title == "Loop ASL (MBPP+)")
    assert sorted(values, key=lambda model: -values[model]) == order
    pages = rendered_texts(site)
    found = lines(pages)
    shares = {model: float(found[model]["loop"]) for model in order}
    assert list(found) == sorted(shares, key=lambda model: -shares[model]) == order
    assert float(found["unjudged"]["loop_upper"]) == pytest.approx(low.upper / 10, abs=1e-6)
    assert float(found["unjudged"]["loop_lower"]) == pytest.approx(low.value / 10, abs=1e-6)
    ends = f"{low.value:.2f}–{low.upper:.2f}"
    scores = script_data(pages["data/choose.js"])["scores"]
    (chosen,) = (score for score in scores if score["id"] == "loop")
    assert chosen["value"][0] == pytest.approx(low.middle) and chosen["shown"][0].startswith(f"{ends} (")
    numbers = pages["models/unjudged.html"].partition('id="numbers"')[2].partition("</table>")[0]
    assert f">{ends}</td>" in numbers


def test_the_page_has_the_first_rows_and_scripts_the_others(pages: dict[str, str]) -> None:
    """Every model with a score in the table once, none without; without scripts the page leads to all."""
    page, later = pages["index.html"], later_rows(pages)
    slugs = re.findall(r'<tr id="([^"]+)"', page + later)
    assert page.count("<tr id=") == 60 and len(slugs) == len(set(slugs)) > 200
    assert f"The first 60 of {len(slugs)} models." in page and '<a href="all-models.html">' in page
    assert re.search(r'data-scripts="assets/shared-\w+.js data/front-rows-1.js\s', page)
    for row in later.split("<tr ")[1:]:
        assert re.search(r'<td class="score[^"]*"[^>]* data-v="\d', row), row
    listed = set(re.findall(r'href="(models/[^"]+)"', pages["all-models.html"]))
    assert {f"models/{slug}.html" for slug in slugs} <= listed <= pages.keys()
    # no score of a model with our own problems alone is in the table, so no row
    assert '<tr id="ours"' not in all_rows(pages) and "models/ours.html" in listed
    assert 'id="ours"' in pages["overall-core.html"] and 'href="overall-core.html"' in page


def test_the_first_screen_shows_the_best_of_disciplines(measured: Gathered, pages: dict[str, str]) -> None:
    """A chart a column, best first; a reported figure is a ring. The band counts no best twice."""
    page = pages["index.html"]
    charts = page[page.index('<div class="charts">') : page.index('<div class="table-frame" id="table"')]
    loop = charts.partition('data-by="loop"')[2].partition("</section>")[0]
    names = [name.removesuffix(" †") for name in re.findall(r"<li><a [^>]*>([^<]+)<", loop)]
    assert names[:2] == ["Claude Opus 4", "Claude Opus 4.1"] and len(names) == 8
    opus = loop[loop.index(">Claude Opus 4") :].partition("</li>")[0]
    assert 'class="hollow"' in opus and "7.79</b>" in opus and "(7.33–8.21), reported" in opus
    tiers = [score.tier for score in board_of(measured, "loop-mbpp-plus").headline.scores.values()]
    others = f" and {tiers.count(1) - 1} not told from it" if tiers.count(1) > 1 else ""
    assert f">Shaded: the best graded here{others}. " in " ".join(loop.split())
    assert charts.count('class="chart ') == 6  # five columns, and prices against scores
    assert charts.index('data-by="loop"') < charts.index('data-by="runtime_output"')


def test_the_order_is_that_of_the_scores(reported: AllModels) -> None:
    """First by the discipline that most models have; the index puts some pairs the other way round."""
    first = default_column(reported.rows)
    assert first and first.id == "loop"
    ordered = in_order(reported.rows, first)
    scores = [row.cells["loop"].middle for row in ordered if "loop" in row.cells]
    assert scores == sorted(scores, reverse=True)
    assert all("loop" in row.cells for row in ordered[: len(scores)])
    ranks = [row.index.rank.rank for row in ordered[: len(scores)] if row.index]
    assert ranks != sorted(ranks)


def test_shares_and_per_cent_are_on_one_scale(tmp_path: Path) -> None:
    """Of the rows that HumanEval+ is the first column of, the best stand first, whoever graded them."""
    results_on(tmp_path, [FakeModel("mine", 9.0)], "evolved/humaneval-plus", tasks=8)
    found = in_order(all_models(gather(add_published(tmp_path), None)).rows, RANKED_BY[0])
    before = {"loop", "runtime_output", "evolved"}
    ordered = [row for row in found if "humaneval_plus" in row.cells and not before & row.cells.keys()]
    scores = {row.name: row.cells["humaneval_plus"] for row in ordered}
    assert next(iter(scores)) == "mine" and {cell.maximum for cell in scores.values()} == {100.0}
    values = [cell.middle for cell in scores.values()]
    assert values == sorted(values, reverse=True) and len(values) > 10


def test_a_figure_that_was_not_checked_moves_no_rank(measured: Gathered) -> None:
    """Measured models are ranked among each other; a reported figure has its place among all in brackets."""
    found = all_models(measured).rows
    loop = next(column for column in RANKED_BY if column.id == "loop")
    places = ranks_in(found, loop)
    assert {rank.rank for name in ("GPT-5", "mine") if (rank := places[name].rank)} == {1, 2}
    opus = places["Claude Opus 4"]
    higher = sum(row.cells["loop"].share > 0.7786 for row in found if "loop" in row.cells)
    assert opus.rank is None and opus.beside and opus.among_all == higher + 1


def test_equal_figures_share_a_place_and_say_so(reported: AllModels) -> None:
    """In brackets, too, where others in the column have ranks; no two others are of one place."""
    plus = next(column for column in RANKED_BY if column.id == "humaneval_plus")
    places = ranks_in(reported.rows, plus)
    assert {places[name].text for name in ("o1-mini", "o1-preview")} == {"=1"}
    found = places_of({"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.2}, {}, beside=True)
    assert [place.text for place in found.values()] == ["(1)", "(=2)", "(=2)", "(4)"]
    assert Score(57.0, Interval(), maximum=100).scaled(1).value == 0.57, (
        "no digits of the machine's arithmetic"
    )


def test_a_name_that_is_not_joined_has_a_row_of_its_own(tmp_path: Path) -> None:
    """A model that was measured under the name of a published one is not taken for it."""
    results_on(tmp_path, [FakeModel("GPT-5")], "loop/mbpp-plus", tasks=4)
    names = rendered_texts(gather(add_published(tmp_path), None))["data/all-models.csv"]
    assert "\nGPT-5 (measured here)," in names and "\nGPT-5 (EVALOOOP)," in names


def test_a_site_shows_what_there_is(tmp_path: Path) -> None:
    """Measured models, our own problems, or nothing at all. Pages without content have no link."""
    results_on(tmp_path / "official", [FakeModel("one"), FakeModel("two", -1.0)], "loop/mbpp-plus", tasks=8)
    small_results(tmp_path / "own", tasks=4)
    results_on(tmp_path / "loop", [FakeModel("one")], "loop/core", tasks=4)
    results_on(tmp_path / "chain", [FakeModel("one")], "translation/core", tasks=4)
    results_on(tmp_path / "open", [FakeModel("one")], "loop/core", tasks=4, planned=2, open_units=2)
    (tmp_path / "nothing").mkdir()
    names = ("official", "own", "loop", "chain", "open", "nothing")
    pages = {name: rendered_texts(gather(tmp_path / name, None)) for name in names}
    assert pages["official"]["index.html"].count("<tr id=") == 2
    assert 'data-table="overall"' in pages["own"]["index.html"]
    assert "run-time behaviour, solving new and changed problems. Every" in pages["own"]["index.html"]
    assert "rewriting its own work in a loop. Every" in pages["loop"]["index.html"]
    for page in ("index.html", "loop.html"):  # no ranks, no tiers
        assert "What the marks mean" in pages["loop"][page] and "higher the tier" not in pages["loop"][page]
    assert "triathlon run --profile quick" in pages["nothing"]["index.html"]
    assert "No measured or published results are in a table yet." in pages["nothing"]["data.html"]
    assert ">translation, own problems</a>." in pages["chain"]["index.html"]
    for found in pages.values():
        assert not {"overall-core.html", "changes.html"} & found.keys()
        assert "changes.html" not in found["index.html"]
        for page in ("index.html", "404.html"):
            assert ("tasks.html" in found) == ("tasks.html" in found[page])


def test_a_mean_that_is_missing_says_which_sets_were_not_run(tmp_path: Path) -> None:
    """A model with five of EvoEval's six sets has no mean; its dash names the sixth."""
    for name, sets in (("whole", EVOEVAL), ("part", EVOEVAL[:-1])):
        suites = [f"evolved/{one}" for one in (*sets, "humaneval-plus", "core-seeds")]
        results_on(tmp_path, [FakeModel(name)], *suites, tasks=6)
    pages = rendered_texts(gather(tmp_path, None))
    assert 'title="no mean, not run: tool use">–' in row_of(pages, "part")
    assert "not run" not in row_of(pages, "whole")
    assert "not run: difficult, creative" in pages["overall-core.html"]
