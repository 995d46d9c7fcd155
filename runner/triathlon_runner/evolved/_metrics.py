"""What is counted: pass@1 and the unbiased pass@k."""

from typing import Final

from triathlon_runner.metrics import Metric, pass_at_k_metric


def pass_at_k(k: int) -> Metric:
    """pass@k over the tasks that have at least k samples."""
    source = "EvoEval, section 3 (pass@1 of one greedy sample); Chen et al. 2021, equation 1"
    return pass_at_k_metric(k, source)


PASS_AT_1: Final = pass_at_k(1)
METRICS: Final = (PASS_AT_1,)
"""The metrics of every evolved suite."""
SAMPLED_METRICS: Final = tuple(map(pass_at_k, (1, 2, 3, 5, 10, 20, 50, 100)))
"""Of a suite asked at a temperature; undefined for k above the number of samples. `pass_at_k` makes
the metric of any other k."""
