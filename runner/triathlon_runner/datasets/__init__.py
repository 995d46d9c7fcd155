"""Problems: where they come from, pinned by SHA-256; `core` holds our own.

A file that is missing, or another one than is expected, is a `UserError`.
"""

from triathlon_runner.datasets._problem import (
    ClassProblem,
    Comparison,
    FunctionProblem,
    Problem,
    TestedProblem,
)
from triathlon_runner.datasets._store import DataFile, DataStore, DataUnavailableError
