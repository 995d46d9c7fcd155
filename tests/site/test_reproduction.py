"""The papers' tables beside our own results: what is compared with what, and how sure a difference is."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from support.results import FakeModel
from support.site import add_published, csv_rows, registry_of, rendered_texts, results_on, sections_of
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.models_yaml import Registry
from triathlon_runner.records import known_protocols
from triathlon_runner.schedule import Missing
from triathlon_runner.terminal import Screen
from triathlon_site.build import gather
from triathlon_site.pages.reproduced import papers
from triathlon_site.published import Published, PublishedTable
from triathlon_site.ranking import Score
from triathlon_site.reproduce_command import say_plan
from triathlon_site.reproduction import Cell, paper_row
from triathlon_site.reproduction_plan import PAPERS, PaperName
from triathlon_site.uncertainty import Difference, Interval, share_interval


def test_every_place_exists_and_every_score_has_one(tables: dict[str, PublishedTable]) -> None:
    """But for the table whose problems were not released. DREval and the sampled loop have five samples."""
    metrics = {entry.id: {metric.id for metric in entry.metrics} for entry in BUILT_IN.entries()}
    compared = {(place.table, place.column) for paper in PAPERS.values() for place in paper.places}
    for paper in PAPERS.values():
        assert all(metric in metrics[suite] for place in paper.places for suite, metric in place.parts)
        assert {place.table for place in paper.places} == set(paper.titles)
        for name in paper.titles:
            numbers = {column.id for column in tables[name].columns if column.role != "text"}
            assert numbers == {column for table, column in compared if table == name}
    papers = {tables[name].title for paper in PAPERS.values() for name in paper.titles}
    left = {table.id for table in tables.values() if table.title in papers} - {name for name, _ in compared}
    assert left == {"evoeval_decompose"}
    samples = {entry.id: entry.default_samples for entry in BUILT_IN.entries()}
    five = {suite for paper in PAPERS.values() for suite in paper.suites if samples[suite] == 5}
    dreval = {"runtime/dreval@reval-truths", "runtime/dreval@cot+reval-truths"}
    assert five == {"loop/mbpp-plus@temperature-0.8", *dreval}


def test_a_model_has_the_row_of_its_name(published: Published, tables: dict[str, PublishedTable]) -> None:
    """Or of its alias, whatever case and hyphens; a chain of thought and another set are other rows."""
    alias = next(a for a in published.aliases if a["evoeval"] and a["evoeval"] != a["model"])
    for table, name, where, row in (
        ("evoeval", alias["model"], ("kind", "model"), alias["evoeval"]),
        ("evoeval", "gpt 4 turbo", ("kind", "model"), "GPT-4-Turbo"),
        ("evoeval", "Qwen2.5-Coder 0.5B Instruct", ("kind", "model"), None),
        ("reval", "CodeLlama-7B-Instruct", ("kind", "cot"), "CodeLlama-7B-Instruct (CoT)"),
        ("reval", "CodeLlama-7B-Instruct", ("kind", "model"), "CodeLlama-7B-Instruct"),
        ("reval", "GPT-4-Turbo", ("kind", "cot"), None),
        ("evoeval_combine", "GPT-4o", ("dataset", "combine"), "GPT-4o"),
    ):
        found = paper_row(tables[table], published, name, where)
        assert (found.name if found else None) == row, (table, name)
        assert found is None or found.record.get(where[0], where[1]) == where[1]


def own_of(solved: int, tasks: int, times: float) -> Score:
    span, value = share_interval(solved, tasks), times * solved / tasks
    return Score(value, Interval(times * span.low, times * span.high), tasks, whole=tasks)


def from_gpt4(table: PublishedTable, own: Score, column: str, value: float) -> Difference:
    """The difference of a score of ours from a figure in the row of GPT-4-Turbo, were it this value."""
    row = next(row for row in table.rows if row.name == "GPT-4-Turbo")
    found = Cell(own, replace(row.scores[column], value=value)).difference
    assert found is not None
    return found


def test_differences_from_the_paper(tables: dict[str, PublishedTable]) -> None:
    """The interval is that of two independent shares; ours alone where the paper's tasks are not known.

    EVALOOOP's drops are shares of its 378 tasks.
    """
    own = own_of(82, 164, 100.0)
    found = from_gpt4(tables["evoeval"], own, "humaneval", 83.5)
    theirs = share_interval(0.835 * 164, 164)
    arms = own.value - own.interval.low, 100 * theirs.high - 83.5
    assert found.interval.low == pytest.approx(-33.5 - np.hypot(*arms), abs=0.2)
    half = 196 * np.sqrt(0.5 * 0.5 / 164 + 0.835 * 0.165 / 164)
    assert found.value == pytest.approx(-33.5) and found.sure
    assert found.interval.low == pytest.approx(-33.5 - half, abs=1.0)
    assert found.interval.high == pytest.approx(-33.5 + half, abs=1.0)
    found = from_gpt4(tables["reval"], own_of(50, 100, 100.0), "state_accuracy", 50.0)
    assert (found.value, found.sure) == (0.0, False)
    assert found.interval.high == pytest.approx(196 * np.sqrt(0.25 / 100), abs=1.0)
    own = Score(40.0, Interval(31.0, 50.0), 100, whole=100)
    found = from_gpt4(tables["evoeval_combine"], own, "humaneval_pass_both", 80.0)
    assert (found.value, found.interval) == (-40.0, Interval(-49.0, -30.0))
    small = next(row for row in tables["evaloop"].rows if row.name == "Qwen2.5-Coder-0.5B-Instruct")
    drop = Cell(own_of(42, 378, 100.0), small.scores["drop"]).difference  # against 21 of 378
    assert drop is not None and drop.interval.low == pytest.approx(1.55, abs=0.01)


def test_a_row_of_suites_says_their_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the smallest suite to the largest. The name tells quantised weights.

    A composition has the interval that its board has: combined problems share seeds.
    """
    monkeypatch.setattr("support.results.protocol_of", lambda suite: known_protocols()[suite, ""])
    results_on(tmp_path, [FakeModel("m")], "evolved/creative", tasks=4)
    sets = "difficult", "humaneval", "combine"
    results_on(tmp_path, [FakeModel("m", 2.0)], *(f"evolved/{one}" for one in sets), tasks=6)
    site = gather(add_published(tmp_path), registry_of("m", bits=4))
    composed = sections_of(site, "evolved-official")["Composition"].rows[0][-1].details
    (table,) = (one for _, own in papers(site) for one in own if one.table.id == "evoeval_combine")
    own = table.rows[-1].cells[[column.id for column in table.columns].index("composition")].own
    assert own and (own.interval.low, own.interval.high) == (composed["low"], composed["high"])
    rows = csv_rows(rendered_texts(site)["data/reproduced-evoeval.csv"])
    assert [row["Tasks"] for row in rows if row["Model"] == "m, 4-bit"] == ["4–6"]


def test_nothing_is_compared_while_units_are_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing may be what the model fails: the figure and the paper's stand there, no difference, on
    the page of the paper and on that of all measurements.
    """
    monkeypatch.setattr("support.results.protocol_of", lambda suite: known_protocols()[suite, ""])
    add_published(tmp_path, {"m": "GPT-4-Turbo"})
    for opened in (0, 5):
        few = {"tasks": 20, "planned": 20 - opened, "open_units": opened}
        results_on(tmp_path, [FakeModel("m", 0.0)], "evolved/creative", **few)
        pages = rendered_texts(gather(tmp_path, None))
        (row,) = csv_rows(pages["data/reproduced-evoeval.csv"])
        assert row["creative"] and row["creative, paper"] == "61.0"
        found = [bool(row.get(f"creative, difference{end}")) for end in ("", " low", " high")]
        assert found == [not opened] * 3
        is_apart = "not compared while units are open" in pages["published/evoeval-reproduced.html"]
        assert is_apart == bool(opened)
        assert ("truth.html" in pages) != bool(opened)
        assert "weights of" not in pages.get("truth.html", "")  # they have all their bits


@pytest.mark.parametrize("paper", PAPERS)
def test_the_plan_fits_80_columns(paper: PaperName) -> None:
    """Every table with its suites, the notes, and what is missing, each reason once."""
    output = StringIO()
    screen = Screen(width=80, force_terminal=True, color_system=None, file=output)
    lacks = {suite: Missing("no data at 'x'", runs=False) for suite in PAPERS[paper].suites}
    say_plan(PAPERS[paper], lacks, Registry(models=()), screen)
    text = output.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert all(name in text for name in PAPERS[paper].titles)
    assert text.count("no data at 'x'") == 1
    assert ("a judge" in text) == (paper == "evaloop")
