"""Output and input prediction (CRUXEval): complete an assertion about one call of a small program."""

from triathlon_runner.runtime.prediction._grade import Asked, grade_prediction
from triathlon_runner.runtime.prediction._suite import METRICS, PredictionSuite, catalogue

__all__ = ["METRICS", "Asked", "PredictionSuite", "catalogue", "grade_prediction"]
