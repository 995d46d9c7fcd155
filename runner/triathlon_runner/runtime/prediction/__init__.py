"""Output and input prediction (CRUXEval): complete an assertion about one call of a small program."""

from triathlon_runner.runtime.prediction._catalogue import METRICS, catalogue
from triathlon_runner.runtime.prediction._grade import grade_prediction
from triathlon_runner.runtime.prediction._suite import PredictionSuite
from triathlon_runner.runtime.prediction._task import Asked, PredictionTask, argument_tuple

__all__ = [
    "METRICS",
    "Asked",
    "PredictionSuite",
    "PredictionTask",
    "argument_tuple",
    "catalogue",
    "grade_prediction",
]
