"""What a run will take: requests, tokens, dollars, hours, and how sure its numbers will be."""

from triathlon_runner.estimates._estimate import ModelEstimate, estimate
from triathlon_runner.estimates._observed import half_width
from triathlon_runner.estimates._probe import DryRunModel

__all__ = ["DryRunModel", "ModelEstimate", "estimate", "half_width"]
