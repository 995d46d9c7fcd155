"""What earlier results say about cost, speed and outcomes, from their manifests alone."""

import math
from collections.abc import Sequence

from triathlon_runner.estimates._probe import UnitCost
from triathlon_runner.noise import Z_95
from triathlon_runner.records import Manifest, Outcome
from triathlon_runner.schedule import Work


def observed(work: Work, manifests: Sequence[Manifest]) -> UnitCost | None:
    """The cost of a unit of this suite: this model's own, else the others'; None where unknown."""
    suite_runs = [
        manifest for manifest in manifests if manifest.suite == work.suite_id and _is_counted(manifest)
    ]
    own_runs = [manifest for manifest in suite_runs if manifest.model == work.row.id]
    runs = own_runs or suite_runs
    units = sum(sum(manifest.outcomes.values()) for manifest in runs)
    if not units:
        return None
    return UnitCost(
        requests=sum(manifest.usage.requests for manifest in runs) / units,
        input_tokens=sum(manifest.usage.input_tokens for manifest in runs) / units,
        output_tokens=sum(manifest.usage.output_tokens for manifest in runs) / units,
        basis=f"{units} units of this model" if own_runs else f"{units} units of {len(runs)} other models",
    )


def _is_counted(manifest: Manifest) -> bool:
    return manifest.usage.requests > 0 and not manifest.usage.uncounted


def speed(model: str, manifests: Sequence[Manifest]) -> float | None:
    """Output tokens a second of the model's last run; None where it is not known."""
    runs = [manifest for manifest in manifests if manifest.model == model and manifest.tokens_per_second]
    return max(runs, key=lambda manifest: manifest.ended).tokens_per_second if runs else None


def half_width(tasks: int, passed: float = 0.5) -> float:
    """Half the width of Wilson's 95 % interval of pass@1 over so many tasks, as a share from 0 to 0.5.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    if not tasks:
        return 0.5
    spread = passed * (1 - passed) / tasks + Z_95 * Z_95 / (4 * tasks * tasks)
    return Z_95 * math.sqrt(spread) / (1 + Z_95 * Z_95 / tasks)


def pass_rate(work: Work, manifests: Sequence[Manifest]) -> float:
    """Share of units that passed so far; one half, where intervals are widest, while nothing is known."""
    runs = [
        manifest for manifest in manifests if (manifest.suite, manifest.model) == (work.suite_id, work.row.id)
    ]
    units = sum(sum(manifest.outcomes.values()) for manifest in runs)
    passed = sum(manifest.outcomes.get(Outcome.PASSED.value, 0) for manifest in runs)
    return passed / units if units else 0.5
