"""What a metric is: a ratio of sums over clusters of tasks.

Every score of the three disciplines has this form (a mean is a ratio whose denominators are counts; F1 is
2·TP / (2·TP + FP + FN)), so one bootstrap over clusters serves them all, paired or not.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, NamedTuple, Protocol

from triathlon_runner.records import Outcome, UnitRecord


def pass_at_k_of(samples: int, correct: int, k: int) -> float:
    """The unbiased estimate of pass@k from `samples` samples of one task (Chen et al. 2021, equation 1).

    Raises:
        ValueError: there are fewer than k samples; nothing unbiased can be said.
    """
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(f"expected 0 <= correct <= samples and 1 <= k <= samples, got {correct, samples, k}")
    return 1.0 - comb(samples - correct, k) / comb(samples, k)


class Sampled(Protocol):
    """One sample of one task and how it ended: a record, or what a site keeps of one."""

    @property
    def task_id(self) -> str: ...

    @property
    def outcome(self) -> str:
        """An `Outcome`, or its value."""
        ...


def pass_at_k_by_task(units: Iterable[Sampled], k: int) -> dict[str, float]:
    """pass@k by task, for the tasks that have at least k samples."""
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for unit in units:
        outcomes[unit.task_id].append(unit.outcome == Outcome.PASSED)
    return {
        task_id: pass_at_k_of(len(samples), sum(samples), k)
        for task_id, samples in outcomes.items()
        if len(samples) >= k
    }


Role = Literal["headline", "baseline", "column", "unranked", "curve", "upper_end", "beside"]
"""What a metric is on a board.

headline: the one score that stands for its discipline. baseline: the plain pass@1 that rank shifts are
counted from, and the first point of a degradation curve. curve: a further point of it, shown in figures only.
unranked: a column in which more is not better. upper_end: the other end of a metric known as a range.
beside: a figure to read another by, such as what a constant answer scores; no column of its own.
"""


class Contribution(NamedTuple):
    """What one unit, or the samples of one task, add to a metric."""

    cluster: str
    """The task; for runtime the program. Several contributions may be of one cluster."""
    numerator: float
    denominator: float


@dataclass(frozen=True, slots=True)
class Metric:
    """One column of a table. `score = scale · Σ numerator / Σ denominator`."""

    id: str
    title: str
    source: str
    """The paper and equation or table it comes from."""
    contributions: Callable[[Sequence[UnitRecord]], list[Contribution]]
    scale: float = 1.0
    maximum: float = 1.0
    role: Role = "column"
    upper: str = ""
    """Where a score is only known to lie in a range and this metric is its lower end: the id of the metric
    that is the upper one (its role is `upper_end`)."""
    column: str = ""
    """Title of the column that shows both ends of such a range; empty: `title`."""
    additive: bool = True
    """Whether what a unit adds does not depend on the other units."""

    @property
    def headline(self) -> bool:
        """Whether this is the one score that stands for its discipline."""
        return self.role == "headline"

    def score(self, records: Sequence[UnitRecord]) -> float:
        """The metric over these records; nan where its denominator is 0."""
        numerators = denominators = 0.0
        for _, numerator, denominator in self.contributions(records):
            numerators += numerator
            denominators += denominator
        return self.scale * numerators / denominators if denominators else float("nan")


def pass_at_k_metric(k: int, source: str) -> Metric:
    """pass@k over the tasks that have at least k samples, as `source` reports it; pass@1 is the headline."""

    def contributions(records: Sequence[UnitRecord]) -> list[Contribution]:
        return [Contribution(task_id, share, 1.0) for task_id, share in pass_at_k_by_task(records, k).items()]

    return Metric(f"pass@{k}", f"pass@{k}", source, contributions, role="headline" if k == 1 else "column")
