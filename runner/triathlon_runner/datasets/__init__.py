"""Problems: where they come from, pinned by SHA-256; `core` holds our own."""

from triathlon_runner.datasets._problem import ClassProblem, Comparison, Oracle, Problem
from triathlon_runner.datasets._store import DataStore, DataUnavailableError

__all__ = ["ClassProblem", "Comparison", "DataStore", "DataUnavailableError", "Oracle", "Problem"]
