"""Is model B worse than model A? A paired sequential test that stops as soon as the answer is clear."""

from triathlon_runner.gate._comparison import Cluster, Comparison, SequentialTest
from triathlon_runner.gate._plan import AHEAD, GatePace, count_stored, in_random_order, plan_comparison
from triathlon_runner.gate._report import report_lines, report_markdown, report_of
