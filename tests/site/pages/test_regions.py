"""The two regions of EvoEval's figure 2."""

from triathlon_site import analysis
from triathlon_site.pages.board._evolved_analyses import region_border

OLD = {f"m{n}": 10.0 + 7 * n for n in range(12)}
NEW = {model: old - 5 + (3 if n % 2 else -3) - 30 * (n == 9) for n, (model, old) in enumerate(OLD.items())}


def test_the_border_parts_the_models_as_the_analysis_does() -> None:
    """Who lies below it is who is better on the old benchmark, and nobody else."""
    placed = analysis.regions(OLD, NEW)
    border = region_border(placed)
    assert border is not None
    below = {m for m, one in placed.items() if one.new < border.intercept + border.slope * one.old}
    assert below == {m for m, one in placed.items() if one.region == border.below} == {"m9"}


def test_models_that_do_not_spread_have_no_border() -> None:
    """All on one line, none at all, or all equal on the old benchmark."""
    assert region_border({}) is None
    assert region_border(analysis.regions(OLD, OLD)) is None
    assert region_border(analysis.regions(dict.fromkeys(OLD, 50.0), NEW)) is None
