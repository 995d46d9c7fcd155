"""The two regions of EvoEval's figure 2: models that are as good on the new as on the old, and others."""

from collections.abc import Mapping

from triathlon_runner.evolved import analysis
from triathlon_site.figures import Border


def far_below(far: int, models: int, what: str) -> str:
    """How many models lie in the lower region, and what that says of them."""
    if not far:
        return f"None of {models} models lies far below {what}."
    squares, lie, they = ("the square", "lies", "it knows") if far == 1 else ("squares", "lie", "they know")
    solve = "it solves" if far == 1 else "they solve"
    return (
        f"{far} of {models} models ({squares}, in the shaded region) {lie} far below {what}:"
        f" {they} the old problems better than {solve} changed ones."
    )


def region_border(placed: Mapping[str, analysis.Placed]) -> Border | None:
    """The line that lies `FAR` robust deviations below the one through all models.

    None where the models do not spread, so that no such line is known.
    """
    models = sorted(placed.values(), key=lambda one: (one.old, one.distance))
    spread = next(((one.new - one.expected) / one.distance for one in models if one.distance), None)
    if spread is None or models[0].old == models[-1].old:
        return None
    first, last = models[0], models[-1]
    slope = (last.expected - first.expected) / (last.old - first.old)
    intercept = first.expected - slope * first.old - analysis.FAR * spread
    return Border(intercept, slope, "aligned", "better on the old")
