"""What the boards and their columns are called."""

from pathlib import Path

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from triathlon_runner import catalogue
from triathlon_site.build import gather
from triathlon_site.scores import plan_boards, set_title


def test_data_is_called_what_its_field_calls_it() -> None:
    """No board shows a name of a file: MBXP, not mbxp."""
    titles = {plan.id: plan.title for plan in plan_boards(catalogue.entries())}
    assert titles["translation-mbxp"] == "MBXP"
    assert [titles[f"runtime-{name}"] for name in ("dreval", "humaneval", "classeval")] == [
        "DREval",
        "HumanEval",
        "ClassEval",
    ]
    assert (set_title("humaneval-plus"), set_title("tool_use-main_only")) == (
        "HumanEval+",
        "tool use, main only",
    )


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
