"""Cost, speed and cut replies of runs."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.aggregates import aggregate
from support.results import FakeModel, FakeSuite, fake_manifest, fake_records, write_file
from support.site import SUITES, entries, page_text, small_results
from triathlon_runner.metrics import pass_at_k_metric
from triathlon_runner.models_yaml import Price, Registry, row_without_server
from triathlon_runner.records import EvolvedRecord, Finish, Outcome, Usage
from triathlon_site.build import build, gather
from triathlon_site.costs import most_with_more_tokens, run_cost, share_that_ran
from triathlon_site.load import FileAggregate
from triathlon_site.render.formats import dollars

PRICE = (100.0, 750.0)
"""At which the lines of `measured` cost 1.5 dollars."""


def measured(*, passed: int = 4, uncounted: int = 0) -> FileAggregate:
    """Ten units of one suite; 20 replies, 3 of them cut. The manifest says otherwise, and does not count."""
    usage = Usage(requests=10, output_tokens=2000, reasoning_tokens=500, uncounted=uncounted)
    file = aggregate("m", "loop/core", outcomes={"passed": passed, "failed": 10 - passed}, usage=usage)
    manifest = fake_manifest("m", "loop/core", []).model_copy(
        update={"cost_usd": 0.0001, "tokens_per_second": 999_999.0}
    )
    columns = replace(file.columns, replies=np.full(10, 2), cut_replies=np.array([0] * 7 + [1, 1, 1]))
    return replace(file, manifest=manifest, columns=columns)


def test_programs_that_did_not_run_are_counted() -> None:
    """Of 10 units two crashed and one had no program; a loop that broke later counts by its first program."""
    outcomes = {"passed": 3, "failed": 3, "timed_out": 1, "crashed": 2, "no_answer": 1}
    evolved = aggregate("m", "evolved/difficult", outcomes=outcomes)
    assert share_that_ran([evolved]) == pytest.approx(0.7)
    loop = aggregate("m", "loop/mbpp-plus", outcomes={"crashed": 4})
    columns = replace(loop.columns, scores={"pass_at_1": np.array([1.0, 1.0, 1.0, 0.0])})
    first = replace(loop, columns=columns)
    assert share_that_ran([first]) == pytest.approx(0.75)
    assert share_that_ran([aggregate("m", "runtime/dreval", outcomes={"failed": 4})]) is None


def test_costs_are_summed_over_suites() -> None:
    """Two suites: dollars are added and divided by what passed; tokens and cut replies are shares. What costs
    nothing is 0, without decimals.
    """
    assert dollars(run_cost([measured()], (0.0, 0.0)).cost_usd or 0) == "0"
    cost = run_cost([measured(), measured(passed=2)], PRICE)
    assert cost.cost_usd == 3.0
    assert cost.cost_usd_per_solved == pytest.approx(0.5)
    assert (cost.output_tokens_per_unit, cost.reasoning_tokens_per_unit) == (200, 50)
    assert cost.cut_replies_share == pytest.approx(3 / 20)


def test_what_is_not_known_is_not_guessed() -> None:
    """No price for one suite, uncounted requests, nothing passed: no number."""
    assert run_cost([measured()], None).cost_usd is None
    assert run_cost([measured(), measured(uncounted=1)], PRICE).cost_usd is None
    assert run_cost([measured(uncounted=1)], PRICE).output_tokens_per_unit is None
    assert run_cost([measured(passed=0)], PRICE).cost_usd_per_solved is None
    assert set(asdict(run_cost([aggregate("m", "loop/core")], None)).values()) == {None}


def test_cut_replies_are_counted_in_the_results(place: Path) -> None:
    """A reply that ended at the token limit counts, whatever the unit's outcome."""
    site = gather(place / "results", None)
    assert not any(file.extracts.states for file in site.results.files)  # the cache's folder is gone
    (low,) = (file.columns for file in site.results.files if (file.model, file.suite) == ("low", SETS[0]))
    assert low.cut_replies.sum() == 3 and low.replies.tolist() == [1] * 20
    assert set(np.array(low.outcome)[low.cut_replies > 0]) == {"truncated"}


def test_cut_replies_bound_the_score() -> None:
    """Three of ten units failed with a cut reply: the score could be 0.3 higher at most, and no more."""
    metric = pass_at_k_metric(1, "")
    units = {f"task {place}": 1.0 if place < 4 else 0.0 for place in range(10)}
    file = measured()
    own = aggregate("m", "s", {metric.id: units}, outcomes={"passed": 4, "failed": 6})
    columns = replace(file.columns, scores={metric.id: np.array([1.0] * 4 + [0.0] * 6)})
    file = replace(file, columns=columns, metrics=own.metrics)
    assert most_with_more_tokens(file, metric) == pytest.approx(0.3)
    whole = replace(file, columns=replace(columns, cut_replies=np.zeros(10, np.int64)))
    assert most_with_more_tokens(whole, metric) is None


def test_the_overall_cost_is_unknown_where_a_suite_was_not_counted(tmp_path: Path) -> None:
    """The order over all disciplines shows no sum that leaves out a suite; prices come from models.yaml."""
    results = small_results(tmp_path / "results")
    price = Price(input=0, output=2)
    rows = (row_without_server(name, "instruct") for name in ("strong", "weak"))
    registry = Registry(models=tuple(row.model_copy(update={"price": price}) for row in rows))
    path = results / "runs/weak/loop/core.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["usage"]["uncounted"] = 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    site = gather(results, registry)
    (overall,) = site.overalls.values()
    tokens = sum(f.usage.output_tokens for f in site.results.files if f.model == "strong")
    build(results, tmp_path / "_site", registry)
    page = page_text(tmp_path / "_site/index.html")
    assert overall.rows and re.findall(r"\$\d+\.\d+", page) == [f"${tokens * 2 / 1e6:.2f}"]


SETS = [suite for suite in SUITES if suite.startswith("evolved/")]


def write_row(root: Path, model: str, strength: float, tokens: int, cut: int) -> None:
    """Twenty tasks of each of the six sets; so many failed tasks of the first one end with a cut reply."""
    for entry in entries(SETS):
        records = []
        left = cut if entry.id == SETS[0] else 0
        for record in fake_records(FakeModel(model, strength), FakeSuite(entry, tasks=20)):
            assert isinstance(record, EvolvedRecord)
            usage = record.usage.model_copy(update={"output_tokens": tokens})
            fields: dict[str, Any] = {"usage": usage}
            if left and record.outcome is not Outcome.PASSED:
                reply = record.reply.model_copy(update={"finish": Finish.LENGTH})
                fields |= {"outcome": Outcome.TRUNCATED, "reply": reply, "verdict": None, "program": ""}
                left -= 1
            records.append(record.model_copy(update=fields))
        assert not left
        write_file(root, model, entry.id, records)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models that wrote more or less."""
    root = tmp_path_factory.mktemp("tokens")
    write_row(root / "results", "low", -0.5, 100, cut=3)
    write_row(root / "results", "high", 0.5, 900, cut=0)
    write_row(root / "results", "other", 0.0, 300, cut=0)
    return root


def test_pages_show_tokens_and_the_bound(place: Path) -> None:
    """The page of the row with cut replies says how far it could rise; the board has the tokens."""
    build(place / "results", place / "_site", None, cache=place / "cache")
    pages = {name: (place / f"_site/models/{name}.html").read_text() for name in ("low", "other")}
    assert "at most +2.5 with more tokens" in pages["low"]
    assert "with more tokens" not in pages["other"]
    board = (place / "_site/evolved.html").read_text()
    assert 'reasoning included.">Output tokens\n<small>a unit</small></th>' in board
    assert '<td class="number off" data-v="900">900</td>' in board
