"""The evolved discipline (EvoEval): problems evolved from known ones, solved in one go."""

from triathlon_runner.evolved._catalogue import DISCIPLINE, catalogue
from triathlon_runner.evolved._metrics import METRICS, PASS_AT_1, pass_at_k
from triathlon_runner.evolved._suite import GREEDY, STOP, STOP_SELF_INVOKING, EvolvedSuite
from triathlon_runner.metrics import pass_at_k_of

__all__ = [
    "DISCIPLINE",
    "GREEDY",
    "METRICS",
    "PASS_AT_1",
    "STOP",
    "STOP_SELF_INVOKING",
    "EvolvedSuite",
    "catalogue",
    "pass_at_k",
    "pass_at_k_of",
]
