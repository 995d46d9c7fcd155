"""Is model B worse than model A? A paired sequential test that stops as soon as the answer is clear."""

from triathlon_runner.gate._comparison import Cluster, Comparison
from triathlon_runner.gate._pace import AHEAD, GatePace
from triathlon_runner.gate._plan import count_stored, in_random_order, plan_comparison, set_pace
from triathlon_runner.gate._report import GateReport, report_of
from triathlon_runner.gate._sequential import SequentialTest, Verdict

__all__ = [
    "AHEAD",
    "Cluster",
    "Comparison",
    "GatePace",
    "GateReport",
    "SequentialTest",
    "Verdict",
    "count_stored",
    "in_random_order",
    "plan_comparison",
    "report_of",
    "set_pace",
]
