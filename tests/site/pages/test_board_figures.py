"""Which figures a board has."""

from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from triathlon_site.build import gather
from triathlon_site.pages.board import board_figures

MOST_BARS, MOST_MUTED = 12, 60


@pytest.mark.parametrize(("models", "titles"), [(MOST_BARS, 1), (MOST_BARS + 1, 2)])
def test_the_questions_are_bars_with_the_line_of_ic(tmp_path: Path, models: int, titles: int) -> None:
    """However many models there are: the best ones as bars; where there are more, all as dots below."""
    fakes = [FakeModel(f"m{n:02}", 2.0 - n / 4) for n in range(models)]
    write_results(tmp_path, fakes, [FakeSuite(entry, tasks=6) for entry in entries(["runtime/core"])])
    site = gather(tmp_path, None)
    (board,) = site.boards
    first, *others = board_figures(board, board.models, site.models)
    assert first.svg.count('class="bar c') == 4 * (MOST_BARS + 1)  # and the legend
    assert first.svg.count("<circle") == MOST_BARS
    assert len(others) == titles - 1
    for figure in others:
        assert all(site.models[model].name in figure.svg for model in board.models)


def test_a_background_of_many_models_is_thinned_and_says_so(tmp_path: Path) -> None:
    """The shown model and at most 60 of the others are drawn; the caption says one in how many."""
    fakes = [FakeModel(f"m{place:03d}", place / 50 - 1, 0.8) for place in range(2 * MOST_MUTED + 2)]
    suite = FakeSuite(entries(["loop/core"])[0], tasks=4)
    write_results(tmp_path / "results", fakes, [suite])
    site = gather(tmp_path / "results", None)
    figure = board_figures(site.boards[0], site.boards[0].models[:1], site.models)[0]
    assert 0 < figure.svg.count('class="line muted"') <= MOST_MUTED
    assert "one in 3" in figure.caption
    few = board_figures(site.boards[0], site.boards[0].models[: MOST_MUTED + 2], site.models)[0]
    assert few.svg.count('class="line muted"') == MOST_MUTED and "Grey" not in few.caption
