"""The two regions of EvoEval's figure 2: models as good on new problems as on old ones, and the rest."""

from collections.abc import Mapping

from triathlon_site import analysis
from triathlon_site.figures import Border


def far_below(far: int, models: int, line: str) -> str:
    """A sentence on how many models lie in the lower region, far below the line that is called `line`."""
    if not far:
        return f"None of {models} models lies far below {line}."
    if far == 1:
        squares, verb, know, solve = "the square", "lies", "it knows", "it solves"
    else:
        squares, verb, know, solve = "squares", "lie", "they know", "they solve"
    return (
        f"{far} of {models} models ({squares}, in the shaded region) {verb} far below {line}:"
        f" {know} the old problems better than {solve} changed ones."
    )


def region_border(placed: Mapping[str, analysis.Placed]) -> Border | None:
    """The line that lies `FAR` robust deviations below the one through all models.

    None where the models do not spread, so that no such line is known.
    """
    models = sorted(placed.values(), key=lambda model: (model.old, model.distance))
    spread = next(((m.new - m.expected) / m.distance for m in models if m.distance), None)
    if spread is None or models[0].old == models[-1].old:
        return None
    first, last = models[0], models[-1]
    slope = (last.expected - first.expected) / (last.old - first.old)
    intercept = first.expected - slope * first.old - analysis.FAR * spread
    return Border(intercept, slope, "aligned", "better on the old")
