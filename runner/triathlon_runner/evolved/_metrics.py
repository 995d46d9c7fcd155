"""What is counted: pass@1 and the unbiased pass@k."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from triathlon_runner.evolved._units import Unit, passed
from triathlon_runner.metrics import Contribution, Metric, pass_at_k_of
from triathlon_runner.records import UnitRecord


def estimates(units: Iterable[Unit], k: int) -> dict[str, float]:
    """pass@k by task, for the tasks that have at least k samples."""
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for unit in units:
        outcomes[unit.task_id].append(passed(unit))
    return {
        task_id: pass_at_k_of(len(samples), sum(samples), k)
        for task_id, samples in outcomes.items()
        if len(samples) >= k
    }


def _contributions(k: int) -> Callable[[Sequence[UnitRecord]], list[Contribution]]:
    def contributions(records: Sequence[UnitRecord]) -> list[Contribution]:
        return [Contribution(task_id, share, 1.0) for task_id, share in estimates(records, k).items()]

    return contributions


def pass_at_k(k: int) -> Metric:
    """pass@k over the tasks that have at least k samples."""
    return Metric(
        id=f"pass@{k}",
        title=f"pass@{k}",
        source="EvoEval, section 3 (pass@1 of one greedy sample); Chen et al. 2021, equation 1",
        contributions=_contributions(k),
        role="headline" if k == 1 else "column",
    )


PASS_AT_1: Final = pass_at_k(1)
METRICS: Final = (PASS_AT_1,)
"""The metrics of every evolved suite."""
SAMPLED_METRICS: Final = tuple(map(pass_at_k, (1, 2, 3, 5, 10, 20, 50, 100)))
"""Of a suite asked at a temperature; nothing is said of a k above the number of samples. `pass_at_k` makes
the metric of any other k."""
