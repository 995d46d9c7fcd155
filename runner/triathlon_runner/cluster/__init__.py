"""Grading programs on the machines of a Ray cluster: the extra `ray`."""

import importlib.util
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader


class ClusterError(UserError):
    """Ray is not installed, the cluster is not reached, or a node cannot execute anything."""


def open_cluster(
    address: str | None = None, *, keys: Path | None = None, report: Callable[[str], object]
) -> AbstractAsyncContextManager[Grader]:
    """Opens a grader on all nodes of a Ray cluster; without an address, on this machine alone.

    Args:
        address: As `ray start` prints it, `auto` for the cluster that this machine belongs to.
        keys: Folder of answer keys, on every node.
        report: Called with one line about each node.

    Raises:
        ClusterError: Ray is not installed, the cluster is not reached, or a node cannot execute anything.
    """
    if importlib.util.find_spec("ray") is None:
        raise ClusterError(
            "--executor ray needs Ray: pip install '.[ray]' in the checkout, on every node"
            " (docs/running.md, 'On a cluster')"
        )
    from triathlon_runner.cluster._driver import cluster_grader  # noqa: PLC0415  a second of import

    return cluster_grader(address, keys, report)
