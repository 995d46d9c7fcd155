"""A board beside its variants, and rank shifts of boards without programs."""

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from triathlon_runner import catalogue
from triathlon_site.build import gather
from triathlon_site.scores import Board, variant_differences, variants_of

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


def test_variants_are_named_by_their_setting(boards: dict[str, Board]) -> None:
    """What the kind says already is left out."""
    assert [one.title for one in variants_of(boards["loop-core"], "attacks")] == ["upper"]
    assert variants_of(boards["loop-core"], "prompts") == []


def test_a_board_without_programs_shifts_against_pass_at_1_elsewhere(boards: dict[str, Board]) -> None:
    """Runtime asks for no program: its shifts are from the loop's first programs, and it says so."""
    runtime = boards["runtime-core"]
    assert runtime.baseline == "loop pass@1"
    shifts = {model: score.shift for model, score in runtime.headline.scores.items()}
    assert all(shift is not None and shift.shift == 0 for shift in shifts.values())
    assert boards["loop-core"].baseline == ""


def test_every_evolved_suite_says_its_set_and_seeds() -> None:
    """The site names no set itself: seeds are their own seeds, and six sets of a family count in its mean."""
    evolved = [
        entry for entry in catalogue.entries() if entry.discipline == "evolved" and not entry.variant_of
    ]
    for core in (True, False):
        own = [entry for entry in evolved if entry.core == core]
        seeds = {"evolved/core-seeds"} if core else {"evolved/humaneval", "evolved/mbpp-plus"}
        assert {entry.id for entry in own if entry.seeds == entry.id} == seeds
        assert len([entry for entry in own if entry.averaged]) == 6
        assert all(entry.set_name for entry in own)
