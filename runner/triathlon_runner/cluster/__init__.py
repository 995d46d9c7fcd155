"""Executing and serving on the machines of a Ray cluster: the extra `ray`."""

from triathlon_runner.cluster._connect import Cluster, open_cluster
from triathlon_runner.cluster._errors import ClusterError
from triathlon_runner.cluster._grader import ClusterGrader

__all__ = ["Cluster", "ClusterError", "ClusterGrader", "open_cluster"]
