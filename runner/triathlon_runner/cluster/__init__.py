"""Executing and serving on the machines of a Ray cluster: the extra `ray`."""

from triathlon_runner.cluster._errors import ClusterError
from triathlon_runner.cluster._grader import ClusterGrader, open_cluster

__all__ = ["ClusterError", "ClusterGrader", "open_cluster"]
