"""What earlier results say about cost, speed and outcomes, from their manifests alone."""

import math
from collections.abc import Sequence

from triathlon_runner.estimates._probe import UnitCost
from triathlon_runner.records import Manifest, Outcome
from triathlon_runner.schedule import Work

_Z = 1.959964
"""Of a 95 % interval."""


def observed(work: Work, manifests: Sequence[Manifest]) -> UnitCost | None:
    """The cost of a unit of this suite: this model's own, else the others'; None where unknown."""
    same = [one for one in manifests if one.suite == work.suite_id and _is_counted(one)]
    own = [one for one in same if one.model == work.row.id]
    found = own or same
    units = sum(sum(one.outcomes.values()) for one in found)
    if not units:
        return None
    return UnitCost(
        requests=sum(one.usage.requests for one in found) / units,
        input_tokens=sum(one.usage.input_tokens for one in found) / units,
        output_tokens=sum(one.usage.output_tokens for one in found) / units,
        basis=f"{units} units of this model" if own else f"{units} units of {len(found)} other models",
    )


def _is_counted(manifest: Manifest) -> bool:
    return manifest.usage.requests > 0 and not manifest.usage.uncounted


def speed(model: str, manifests: Sequence[Manifest]) -> float | None:
    """Output tokens a second of the model's last run; None where it is not known."""
    found = [one for one in manifests if one.model == model and one.tokens_per_second]
    return max(found, key=lambda one: one.ended).tokens_per_second if found else None


def half_width(tasks: int, passed: float = 0.5) -> float:
    """Half the width of Wilson's 95 % interval of pass@1 over so many tasks, as a share from 0 to 0.5.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    if not tasks:
        return 0.5
    spread = passed * (1 - passed) / tasks + _Z * _Z / (4 * tasks * tasks)
    return _Z * math.sqrt(spread) / (1 + _Z * _Z / tasks)


def pass_rate(work: Work, manifests: Sequence[Manifest]) -> float:
    """Share of units that passed so far; one half, where intervals are widest, while nothing is known."""
    own = [one for one in manifests if (one.suite, one.model) == (work.suite_id, work.row.id)]
    units = sum(sum(one.outcomes.values()) for one in own)
    passed = sum(one.outcomes.get(Outcome.PASSED.value, 0) for one in own)
    return passed / units if units else 0.5
