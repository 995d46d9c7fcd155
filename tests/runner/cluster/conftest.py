"""A real Ray cluster of two nodes on this machine."""

import importlib
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without CPUs, as large clusters keep it, and two nodes; who takes one away brings another."""
    cluster_utils = importlib.import_module("ray.cluster_utils")
    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    made.add_node(num_cpus=1)
    made.add_node(num_cpus=1)
    yield made
    made.shutdown()
