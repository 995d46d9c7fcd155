"""Whether two outcomes of our own programs are the same, by a problem's rule of comparison."""

import math

from triathlon_runner.datasets._problem import Comparison
from triathlon_runner.datasets.core.checks._execute import Outcome


def _close(left: object, right: object, tolerance: float) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_close(left[k], right[k], tolerance) for k in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(_close(a, b, tolerance) for a, b in pairs)
    if isinstance(left, float) and isinstance(right, int | float):
        return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance)
    return left == right


def same(expected: Outcome, got: Outcome, comparison: Comparison) -> bool:
    """Our own problems compare exactly or, where floats are computed, within a tolerance.

    Raises:
        NotImplementedError: for any other rule.
    """
    if expected.kind != got.kind:
        return False
    if comparison.oracle == "exact":
        return bool(expected.value == got.value)
    if comparison.oracle == "close":
        return _close(expected.value, got.value, comparison.tolerance)
    message = f"core problems compare 'exact' or 'close', got {comparison.oracle!r}"
    raise NotImplementedError(message)


def all_same(expected: tuple[Outcome, ...], got: tuple[Outcome, ...], comparison: Comparison) -> bool:
    """Whether a program gave on every input what the reference gave."""
    return len(expected) == len(got) and all(
        same(left, right, comparison) for left, right in zip(expected, got, strict=True)
    )
