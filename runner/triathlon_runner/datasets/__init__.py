"""Problems: where they come from, pinned by SHA-256; `core` holds our own."""

from triathlon_runner.datasets._problem import Comparison, Problem

__all__ = ["Comparison", "Problem"]
