"""Grading programs on the machines of a Ray cluster: the extra `ray`."""

from triathlon_runner.cluster._connect import ClusterError, open_cluster
from triathlon_runner.cluster._grader import ClusterGrader

__all__ = ["ClusterError", "ClusterGrader", "open_cluster"]
