"""Boards and their columns, seeds of tasks, variants, and rank shifts of boards without programs."""

from pathlib import Path

import pandas as pd
import pytest

from support.results import FakeModel, FakeSuite, task_id, write_results
from support.site import SUITES, entries
from triathlon_runner import catalogue
from triathlon_site.build import gather
from triathlon_site.scores import (
    Board,
    plan_boards,
    seeds_of,
    set_title,
    task_scores,
    variant_differences,
    variants_of,
)


def test_the_catalogue_says_what_boards_need() -> None:
    """Data is called what its field calls it, never as a file. The site names no set: seeds are their own
    seeds, and six sets of a family count in its mean. Problems of other names are known by their own.
    """
    titles = {plan.id: plan.title for plan in plan_boards(catalogue.entries())}
    names = {"translation-mbxp": "MBXP", "runtime-dreval": "DREval", "runtime-humaneval": "HumanEval"}
    assert titles | names | {"runtime-classeval": "ClassEval"} == titles
    assert set_title("humaneval-plus") == "HumanEval+"
    assert set_title("tool_use-main_only") == "tool use, main only"
    evolved = [
        entry for entry in catalogue.entries() if entry.discipline == "evolved" and not entry.variant_of
    ]
    for core in (True, False):
        own = [entry for entry in evolved if entry.core == core]
        seeds = {"evolved/core-seeds"} if core else {"evolved/humaneval", "evolved/mbpp-plus"}
        assert {entry.id for entry in own if entry.seeds == entry.id} == seeds
        assert len([entry for entry in own if entry.averaged]) == 6
        assert all(entry.set_name for entry in own)
    known = {
        "DREval/2": "HumanEval/3",
        "DREval/84": "HumanEval/161",
        "DREval/85": "ClassEval_1",
        "DREval/153": "ClassEval_97",
        "MBXP/11": "Mbpp/11",
        "mine/1": "mine/1",
    }
    assert [name for (name,) in seeds_of(list(known), [])] == list(known.values())


def test_models_without_a_rank_stand_by_what_is_known_of_them(tmp_path: Path) -> None:
    """Where a discipline or a set is missing there is no rank: the better ones come first all the same."""
    weak, strong = FakeModel("a", -2.0, 0.5), FakeModel("z", 2.0, 0.95)
    suites = [FakeSuite(entry) for entry in entries(["loop/core", "evolved/core-seeds"])]
    write_results(tmp_path, [weak, strong], suites)
    write_results(tmp_path, [weak], [FakeSuite(entry) for entry in entries(["evolved/core-difficult"])])
    site = gather(tmp_path, None)
    (evolved,) = (board for board in site.boards if board.plan.id == "evolved-core")
    assert evolved.models == ("z", "a")
    write_results(tmp_path, [FakeModel("m")], [FakeSuite(entry) for entry in entries(["runtime/core"])])
    rows = gather(tmp_path, None).overalls["core"].rows
    assert not any(row.rank for row in rows)
    assert [row.model for row in rows if row.model != "m"] == ["z", "a"]


STRONG, WEAK = FakeModel("strong", 2.0, 0.95), FakeModel("weak", -2.0, 0.5)


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Board]:
    """Two models; the weak one was not attacked."""
    root = tmp_path_factory.mktemp("variants")
    plain = [FakeSuite(entry, tasks=20) for entry in entries(["loop/core", "runtime/core"])]
    attacked = [FakeSuite(entry, tasks=12) for entry in entries(["loop/core@attack-upper"])]
    write_results(root, [STRONG, WEAK], plain)
    write_results(root, [STRONG], attacked)
    return {board.plan.id: board for board in gather(root, None).boards}


def test_a_difference_is_over_the_tasks_of_both_sides(boards: dict[str, Board]) -> None:
    """Twelve of the twenty; its sign is after minus before; a model without the variant has none."""
    board = boards["loop-core"]
    (attack,) = variants_of(board, "attacks")
    metric = attack.entry.metrics[0]
    found = variant_differences(board, attack, metric)
    assert list(found) == ["strong"] and found["strong"].tasks == 12
    before, after = (
        dict(zip(parts.clusters, parts.numerators, strict=True))
        for parts in (
            board.of_suite("loop/core")["strong"].metrics["pass_at_1"],
            board.of_suite("loop/core@attack-upper")["strong"].metrics["pass_at_1"],
        )
    )
    expected = sum(after[task] - before[task] for task in after) / len(after)
    assert found["strong"].value == pytest.approx(expected)
    assert found["strong"].interval.low <= expected <= found["strong"].interval.high


def test_variants_and_baselines_have_names(boards: dict[str, Board]) -> None:
    """A variant that of its setting, without what the kind says already. Runtime asks for no program: its
    shifts are from the loop's first programs, and it says so.
    """
    assert [one.title for one in variants_of(boards["loop-core"], "attacks")] == ["upper"]
    assert variants_of(boards["loop-core"], "prompts") == []
    runtime = boards["runtime-core"]
    assert (runtime.baseline, boards["loop-core"].baseline) == ("loop pass@1", "")
    shifts = {model: score.shift for model, score in runtime.headline.scores.items()}
    assert all(shift is not None and shift.shift == 0 for shift in shifts.values())


def test_a_task_has_the_seeds_that_its_record_names(tmp_path: Path) -> None:
    """One parent, two, or the problem itself; the same names in every set, also with some tasks alone."""
    write_results(tmp_path, [FakeModel("a", 1.0)], [FakeSuite(entry, tasks=12) for entry in entries()])
    partial = [FakeSuite(entry, tasks=12, planned=5) for entry in entries(SUITES[2:])]
    write_results(tmp_path, [FakeModel("b", 0.0)], partial)
    (board,) = (board for board in gather(tmp_path, None).boards if board.plan.id == "evolved-core")
    origins = {column.column.title: list(column.samples[0].origins) for column in board.columns}
    seeds = [(task_id("evolved/core-seeds", n),) for n in range(12)]
    assert origins["seeds"] == origins["difficult"] == seeds
    assert origins["combine"] == [(*seeds[n], *seeds[(n + 1) % 12]) for n in range(12)]


def test_repeated_samples_count_once_a_task(tmp_path: Path) -> None:
    """Two samples of one task are one task, scored by their mean."""
    entry = entries(["loop/core"])[0]
    write_results(tmp_path, [FakeModel("m", 0.0, 0.5)], [FakeSuite(entry, tasks=20, samples=2)])
    (board,) = gather(tmp_path, None).boards
    file = board.of_suite(entry.id)["m"]
    solved = pd.Series(file.columns.scores["pass_at_1"], file.columns.task)
    means = solved.groupby(level=0).mean().to_dict()
    assert task_scores({"m": file}, "pass_at_1") == {"m": means}
    assert 0.5 in means.values()
