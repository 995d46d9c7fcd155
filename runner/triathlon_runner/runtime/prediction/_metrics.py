"""pass@1 and pass@5 of predictions."""

from typing import Final

from triathlon_runner.metrics import pass_at_k_metric

_SOURCE: Final = "CRUXEval (Gu et al. 2024), section 3: over 10 samples a task at temperature 0.2"

METRICS: Final = (pass_at_k_metric(1, _SOURCE), pass_at_k_metric(5, _SOURCE))
"""pass@5 is undefined where a task has fewer than 5 samples."""
