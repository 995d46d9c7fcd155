"""The two regions of EvoEval's figure 2: models that are as good on the new as on the old, and others."""

from collections.abc import Mapping

from triathlon_runner.evolved import analysis
from triathlon_site.figures import Border


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
