"""Boards, their columns, which rows are ranked, variants, rank shifts, and the order over all disciplines."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from support.aggregates import aggregate
from support.case_files import rows
from support.hashes import hashes
from support.results import FakeModel, fake_manifest, task_id
from support.site import SUITES, board_of, rendered_texts, results_on, small_results
from triathlon_runner import catalogue
from triathlon_runner.records import Manifest, known_protocols
from triathlon_site.build import gather
from triathlon_site.load import FileAggregate, Results
from triathlon_site.ranking import UNITS_ARE_OPEN
from triathlon_site.scores import (
    Board,
    plan_boards,
    score_board,
    seeds_of,
    set_title,
    task_scores,
    variant_differences,
    variant_title,
    variants_of,
)


def test_the_catalogue_says_what_boards_need() -> None:
    """Data has its field's name. Seeds are their own seeds, and six sets of a family count in its mean."""
    titles = {plan.id: plan.title for plan in plan_boards(catalogue.entries())}
    names = {"translation-mbxp": "MBXP", "runtime-dreval": "DREval", "runtime-humaneval": "HumanEval"}
    assert titles | names | {"runtime-classeval": "ClassEval"} == titles
    assert set_title("humaneval-plus") == "HumanEval+"
    assert set_title("tool_use-main_only") == "tool use, main only"
    evolved = [one for one in catalogue.entries() if one.discipline == "evolved" and not one.variant_of]
    for core in (True, False):
        own = [entry for entry in evolved if entry.core == core]
        seeds = {"evolved/core-seeds"} if core else {"evolved/humaneval", "evolved/mbpp-plus"}
        assert {entry.id for entry in own if entry.seeds == entry.id} == seeds
        assert len([entry for entry in own if entry.averaged]) == 6
        assert all(entry.set_name for entry in own)
    known = {"DREval/2": "HumanEval/3", "DREval/84": "HumanEval/161", "DREval/85": "ClassEval_1"}
    known |= {"DREval/153": "ClassEval_97", "MBXP/11": "Mbpp/11", "mine/1": "mine/1"}
    assert [name for (name,) in seeds_of(list(known), [])] == list(known.values())


def test_models_without_a_rank_stand_by_what_is_known_of_them(tmp_path: Path) -> None:
    """Where a discipline or a set is missing there is no rank: the better ones come first all the same."""
    weak, strong = FakeModel("a", -2.0, 0.5), FakeModel("z", 2.0, 0.95)
    results_on(tmp_path, [weak, strong], "loop/core", "evolved/core-seeds")
    results_on(tmp_path, [weak], "evolved/core-difficult")
    assert board_of(gather(tmp_path, None), "evolved-core").models == ("z", "a")
    results_on(tmp_path, [FakeModel("m")], "runtime/core")
    rows = gather(tmp_path, None).overalls["core"].rows
    assert not any(row.rank for row in rows)
    assert [row.model for row in rows if row.model != "m"] == ["z", "a"]


STRONG, WEAK = FakeModel("strong", 2.0, 0.95), FakeModel("weak", -2.0, 0.5)


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Board]:
    """Two models; the weak one was not attacked."""
    root = tmp_path_factory.mktemp("variants")
    results_on(root, [STRONG, WEAK], "loop/core", "runtime/core", tasks=20)
    results_on(root, [STRONG], "loop/core@attack-upper", tasks=12)
    return {board.plan.id: board for board in gather(root, None).boards}


def test_a_difference_is_over_the_tasks_of_both_sides(boards: dict[str, Board]) -> None:
    """Its sign is after minus before. Runtime has the shifts from the loop's first programs, and says so."""
    board = boards["loop-core"]
    (attack,) = variants_of(board, "attacks")
    metric = attack.metrics[0]
    found = variant_differences(board, attack, metric)
    assert list(found) == ["strong"] and found["strong"].tasks == 12
    files = (board.of_suite(suite)["strong"] for suite in ("loop/core", "loop/core@attack-upper"))
    of_both = (file.metrics["pass_at_1"] for file in files)
    before, after = (dict(zip(parts.clusters, parts.numerators, strict=True)) for parts in of_both)
    expected = sum(after[task] - before[task] for task in after) / len(after)
    assert found["strong"].value == pytest.approx(expected)
    assert found["strong"].interval.low <= expected <= found["strong"].interval.high
    assert [variant_title(one) for one in variants_of(boards["loop-core"], "attacks")] == ["upper"]
    assert variants_of(boards["loop-core"], "prompts") == []
    runtime = boards["runtime-core"]
    assert (runtime.baseline, boards["loop-core"].baseline) == ("loop pass@1", "")
    shifts = {model: score.shift for model, score in runtime.headline.scores.items()}
    assert all(shift is not None and shift.shift == 0 for shift in shifts.values())


def test_a_task_has_the_seeds_that_its_record_names(tmp_path: Path) -> None:
    """One parent, two, or the problem itself; the same names in every set, also with some tasks alone."""
    results_on(tmp_path, [FakeModel("a", 1.0)], *SUITES, tasks=12)
    results_on(tmp_path, [FakeModel("b", 0.0)], *SUITES[2:], tasks=12, planned=5)
    board = board_of(gather(tmp_path, None), "evolved-core")
    origins = {column.column.title: list(column.samples[0].origins) for column in board.columns}
    seeds = [(task_id("evolved/core-seeds", n),) for n in range(12)]
    assert origins["seeds"] == origins["difficult"] == seeds
    assert origins["combine"] == [(*seeds[n], *seeds[(n + 1) % 12]) for n in range(12)]


def test_repeated_samples_count_once_a_task(tmp_path: Path) -> None:
    """Two samples of one task are one task, scored by their mean."""
    results_on(tmp_path, [FakeModel("m", 0.0, 0.5)], "loop/core", tasks=20, samples=2)
    (board,) = gather(tmp_path, None).boards
    file = board.of_suite("loop/core")["m"]
    solved = pd.Series(file.columns.scores["pass_at_1"], file.columns.task)
    means = solved.groupby(level=0).mean().to_dict()
    assert task_scores({"m": file}, "pass_at_1") == {"m": means}
    assert 0.5 in means.values()


MODELS = tuple(FakeModel(f"m{place}", -1.5 + 0.7 * place, 0.9 - 0.07 * place) for place in range(6))


def test_percentiles_are_ranks_among_the_ranked(tmp_path: Path) -> None:
    """100 · (midrank - 1) / (n - 1) in each discipline, over the models that have all; their mean ranks.

    A model that lacks one stands last without a rank, shows what it has, and takes no place.
    """
    results_on(small_results(tmp_path, MODELS), [FakeModel("half")], "loop/core", "runtime/core")
    found = gather(tmp_path, None).overalls["core"]
    scores = [[board.headline.scores[model.id].value for model in MODELS] for board in found.boards]
    shares = np.array([100 * (rankdata(of_board) - 1) / 5 for of_board in scores]).T
    rows = {row.model: row for row in found.rows}
    for model, expected in zip(MODELS, shares, strict=True):
        assert rows[model.id].percentiles == pytest.approx(tuple(expected))
        assert rows[model.id].percentile == pytest.approx(expected.mean())
    order = rankdata(-np.round(shares.mean(axis=1), 9), method="min")
    assert [row.rank.rank for m in MODELS if (row := rows[m.id]).rank] == order.tolist()
    *ranked, half = found.rows
    assert all(row.rank and row.rank.low <= row.rank.rank <= row.rank.high for row in ranked)
    assert (half.model, half.rank, half.percentile) == ("half", None, None)
    assert [bool(score) for score in half.scores] == [True, True, False]


def test_few_models_are_ordered_only(tmp_path: Path) -> None:
    """Below five no page, badge or data has a rank; the order is that of the mean percentile all the same."""
    site = gather(small_results(tmp_path, MODELS[2:]), None)
    rows = site.overalls["core"].rows
    models = sorted(site.models)
    places = [rankdata([-board.headline.scores[m].value for m in models]) for board in site.boards]
    by_mean = sorted(zip(np.sum(places, axis=0), models, strict=True))
    assert [row.model for row in rows] == [model for _, model in by_mean]
    assert {(row.rank, row.percentile, row.percentiles) for row in rows} == {(None, None, (None, None, None))}
    pages = rendered_texts(site)
    assert not any(words in pages["index.html"].lower() for words in ("percentile", "rank: by"))
    assert not any(rank in pages["loop.html"] for rank in ("<b>1</b>", ">rank 1"))
    assert not any(path.startswith("badges/") for path in pages)
    cells = [cell for row in json.loads(pages["data/overall-core.json"])["rows"] for cell in row.items()]
    assert {number for name, number in cells if "percentile" in name or "rank" in name} == {None}


LOOP = "loop/core"
LOOP_ENTRY = next(entry for entry in catalogue.entries() if entry.id == LOOP)
OWN = known_protocols()[LOOP, ""]


def asked(model: str, protocol: str, low: float, high: float | None = None) -> FileAggregate:
    """A model with the same score in twenty tasks."""
    scores = {metric.id: low for metric in LOOP_ENTRY.metrics} | {"asl_high": low if high is None else high}
    metrics = {name: {f"t{n}": value for n in range(20)} for name, value in scores.items()}
    found = aggregate(model, LOOP, metrics, outcomes={"passed": 20})
    return replace(found, protocol=OWN if protocol == "own" else hashes(protocol))


def scored(*files: FileAggregate) -> Board:
    (plan,) = (plan for plan in plan_boards([LOOP_ENTRY]) if plan.suites[0].id == LOOP)
    board = score_board(plan, Results(files, ()))
    assert board is not None
    return board


@pytest.mark.parametrize(
    ("of_each", "ranked"), [("p p q", {"a", "b"}), ("p own", {"b"}), ("p q", {"a"}), ("p p", {"a", "b"})]
)
def test_the_ranking_is_that_of_most_models(of_each: str, ranked: set[str]) -> None:
    """Equal: the suite's own. The others have their scores, no rank, no tier, no shift, and stand below."""
    protocols = dict(zip("abc", of_each.split(), strict=False))
    board = scored(
        *(asked(model, protocol, 0.9 - 0.1 * n) for n, (model, protocol) in enumerate(protocols.items()))
    )
    assert set(board.models) == set(protocols)
    for column in board.columns:
        assert set(column.scores) == ranked == set(board.of_suite(LOOP))
        assert set(column.apart) == set(protocols) - ranked
        for score in column.apart.values():
            assert (score.rank, score.tier, score.shift) == (None,) * 3
    assert set(board.models[: len(ranked)]) == ranked
    assert all(board.headline.shown(model) for model in protocols)


def planned(tasks: int, open_units: int) -> Manifest:
    """Of a run of which 20 tasks have a line."""
    made = fake_manifest("m", LOOP, [])
    changes = {"tasks_planned": tasks, "open_units": open_units, "outcomes": {"passed": 20}}
    return made.model_copy(update=changes)


@pytest.mark.parametrize(
    ("tasks", "open_units", "missing"), [(20, 0, 0), (21, 1, 1), (80, 60, 60), (80, 0, 60), (20, 5, 5)]
)
def test_a_row_that_lacks_planned_units_is_not_ranked(tasks: int, open_units: int, missing: int) -> None:
    """Its manifest calls them open, or names more tasks than have lines: what is missing may have failed."""
    found = replace(asked("lacking", "own", 1.0), manifest=planned(tasks, open_units))
    board = scored(found, asked("whole", "own", 0.5))
    assert board.open_units("lacking") == missing
    for column in board.columns:
        score = column.shown("lacking")
        assert score and score.apart == (UNITS_ARE_OPEN if missing else "")
        if missing:
            assert (score.rank, score.tier, score.shift) == (None,) * 3
            assert list(column.scores) == ["whole"]
    assert board.models == (("whole", "lacking") if missing else ("lacking", "whole"))
    alone = scored(found)
    assert alone.models == ("lacking",) and bool(alone.headline.scores) is not bool(missing)
    assert alone.headline.shown("lacking") and alone.headline in alone.shown


@pytest.mark.parametrize("row", rows(Path(__file__).with_name("present_problems.csv")), ids=str)
def test_results_on_the_present_problems_go_first(row: dict[str, str]) -> None:
    """Not where their units are open (…), nor where no manifest says so (?). `-`: others are named now."""
    files = [
        replace(
            asked(model, kind.rstrip("-…?"), 0.5),
            manifest=None if "?" in kind else planned(20, 5 * ("…" in kind)),
            outdated="-" in kind,
        )
        for model, kind in zip("abcde", row["of_each"].split(), strict=False)
    ]
    assert "".join(sorted(scored(*files).headline.scores)) == row["ranked"]


def test_a_range_is_ordered_by_its_middle() -> None:
    """A judge alone moves no model: the one without stands by its middle, and only apart ranges differ."""
    board = scored(asked("judged", "own", 4.0), asked("wide", "own", 3.9, 4.3), asked("low", "own", 1.0, 1.2))
    ranks = {model: score.rank.rank for model, score in board.headline.scores.items() if score.rank}
    assert ranks == {"wide": 1, "judged": 2, "low": 3}
    tiers = {model: score.tier for model, score in board.headline.scores.items()}
    assert tiers == {"wide": 1, "judged": 1, "low": 2}
