"""Grading programs on the machines of a Ray cluster: the extra `ray`."""

from triathlon_runner.cluster._connect import ClusterError, open_cluster

__all__ = ["ClusterError", "open_cluster"]
