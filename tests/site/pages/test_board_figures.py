"""Which figures a board has."""

from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from triathlon_site.build import gather
from triathlon_site.pages._figures import MOST_BARS, board_figures


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
