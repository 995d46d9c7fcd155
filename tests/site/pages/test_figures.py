"""Which figures a page has."""

from pathlib import Path

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from triathlon_site.build import gather
from triathlon_site.pages._figures import MOST_MUTED, board_figures


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
