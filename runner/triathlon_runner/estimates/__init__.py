"""What a run will take: requests, tokens, dollars, hours, and how sure its numbers will be."""

from triathlon_runner.estimates._cost import DryRunModel
from triathlon_runner.estimates._estimate import ModelEstimate, estimate, half_width

__all__ = ["DryRunModel", "ModelEstimate", "estimate", "half_width"]
