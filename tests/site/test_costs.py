"""Cost, speed and cut replies of runs."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from support.aggregates import aggregate
from support.results import FakeModel, fake_manifest
from support.site import SUITES, json_lines, rendered_texts, results_on, write_lines
from triathlon_runner.records import Usage
from triathlon_site.build import gather
from triathlon_site.costs import run_cost, share_that_ran, solved_costs
from triathlon_site.load import FileAggregate
from triathlon_site.render.formats import dollars

PRICE = (100.0, 750.0)
"""At which the lines of `measured` cost 1.5 dollars."""


def measured(*, passed: int = 4, uncounted: int = 0) -> FileAggregate:
    """Ten units of one suite; 20 replies, 3 of them cut. The manifest says otherwise, and does not count."""
    usage = Usage(requests=10, output_tokens=2000, reasoning_tokens=500, uncounted=uncounted)
    file = aggregate("m", "loop/core", outcomes={"passed": passed, "failed": 10 - passed}, usage=usage)
    said = {"cost_usd": 0.0001, "tokens_per_second": 999_999.0}
    manifest = fake_manifest("m", "loop/core", []).model_copy(update=said)
    columns = replace(file.columns, replies=np.full(10, 2), cut_replies=np.array([0] * 7 + [1, 1, 1]))
    return replace(file, manifest=manifest, columns=columns)


def test_programs_that_did_not_run_are_counted() -> None:
    """Of 10 units two crashed and one had no program; a loop that broke later counts by its first program."""
    outcomes = {"passed": 3, "failed": 3, "timed_out": 1, "crashed": 2, "no_answer": 1}
    evolved = aggregate("m", "evolved/difficult", outcomes=outcomes)
    assert share_that_ran([evolved]) == pytest.approx(0.7)
    loop = aggregate("m", "loop/mbpp-plus", outcomes={"crashed": 4})
    columns = replace(loop.columns, scores={"pass_at_1": np.array([1.0, 1.0, 1.0, 0.0])})
    assert share_that_ran([replace(loop, columns=columns)]) == pytest.approx(0.75)
    assert share_that_ran([aggregate("m", "runtime/dreval", outcomes={"failed": 4})]) is None


def test_costs_are_summed_over_suites() -> None:
    """Without a price, of uncounted requests and where nothing passed there is no number."""
    assert dollars(run_cost([measured()], (0.0, 0.0)).cost_usd or 0) == "0"
    amounts = (12.345, 1.0, 0.996, 0.5, 0.012345, 0.00051, 0.00001, 5e-7)
    texts = ["12.35", "1.00", "1", "0.5", "0.012", "0.00051", "0.00001", "0.0000005"]
    assert [dollars(amount) for amount in amounts] == texts
    cost = run_cost([measured(), measured(passed=2)], PRICE)
    assert cost.cost_usd == 3.0 and cost.cost_usd_per_solved == pytest.approx(0.5)
    assert (cost.output_tokens_per_unit, cost.reasoning_tokens_per_unit) == (200, 50)
    assert cost.cut_replies_share == pytest.approx(3 / 20)
    assert run_cost([measured()], None).cost_usd is None
    assert run_cost([measured(), measured(uncounted=1)], PRICE).cost_usd is None
    assert run_cost([measured(uncounted=1)], PRICE).output_tokens_per_unit is None
    assert run_cost([measured(passed=0)], PRICE).cost_usd_per_solved is None
    assert set(asdict(run_cost([aggregate("m", "loop/core")], None)).values()) == {None}


def test_cut_replies_are_counted_and_shown(tmp_path: Path) -> None:
    """Of replies that ended at the token limit; the model's page says how far it could rise. A solved task
    costs what it does on one board, that of most models.
    """
    sets = [suite for suite in SUITES if suite.startswith("evolved/")]
    results = results_on(tmp_path / "results", [FakeModel("low", -0.5), FakeModel("other")], *sets, tasks=20)
    results_on(results, [FakeModel("low")], "loop/core", tasks=20)
    path = results / f"runs/low/{sets[0]}.jsonl"
    lines = json_lines(path)
    for line in [line for line in lines if line["outcome"] != "passed"][:3]:
        line["reply"]["finish"] = "length"
        line |= {"outcome": "truncated", "verdict": None, "program": ""}
    write_lines(path, lines)
    site = gather(results, None)
    assert not any(file.extracts.states for file in site.results.files)  # the cache's folder is gone
    (low,) = (file.columns for file in site.results.files if (file.model, file.suite) == ("low", sets[0]))
    assert low.cut_replies.sum() == 3 and low.replies.tolist() == [1] * 20
    assert set(np.array(low.outcome)[low.cut_replies > 0]) == {"truncated"}
    pages = rendered_texts(site)
    assert "at most +2.5 with more tokens" in pages["models/low.html"]
    assert "with more tokens" not in pages["models/other.html"]
    assert 'reasoning included.">Output tokens <small>a unit</small></th>' in pages["evolved.html"]
    assert '<td class="number off" data-v="90">90</td>' in pages["evolved.html"]
    priced = {model: replace(info, name="One", price=PRICE) for model, info in site.models.items()}
    board, costs = solved_costs(site.boards, priced, {"loop-core", "evolved-core"})
    assert board and board.plan.id == "evolved-core" and costs.keys() == {"low", "other"}
    assert costs["low"] == run_cost(board.files["low"], PRICE).cost_usd_per_solved
