"""What a server takes of which node."""

import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from triathlon_runner.serving import ServeConfig, Served, ServingError

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
Placement = importlib.import_module("triathlon_runner.cluster._placement").Placement
ClusterServers = importlib.import_module("triathlon_runner.cluster._servers").ClusterServers

HEAD = {"NodeID": "head", "Alive": True, "Resources": {"memory": 1.0}}
SMALL = {"NodeID": "small", "Alive": True, "Resources": {"CPU": 4.0}}
LARGE = {"NodeID": "large", "Alive": True, "Resources": {"CPU": 16.0, "GPU": 4.0}}
DEAD = {"NodeID": "dead", "Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}}


def config(**block: Any) -> ServeConfig:
    return ServeConfig.model_validate({"engine": "vllm", "weights": {"path": "w"}, **block})


@pytest.mark.parametrize(
    ("block", "nodes", "gpus", "cpus", "fitting"),
    [
        ({}, [HEAD, SMALL, LARGE], 1, 0, ("large",)),
        ({"args": {"tensor-parallel-size": 2, "pipeline-parallel-size": 2}}, [LARGE], 4, 0, ("large",)),
        ({"device": "cpu"}, [HEAD, SMALL, LARGE], 0, 16, ("large",)),
        ({}, [HEAD, SMALL, {**SMALL, "NodeID": "other"}], 0, 4, ("small", "other")),
    ],
)
def test_of(
    block: dict[str, Any], nodes: list[dict[str, Any]], gpus: int, cpus: int, fitting: tuple[str, ...]
) -> None:
    """Whole GPUs, as many as the row's sizes; else the CPUs of a whole node of the largest kind."""
    found = Placement.of(config(**block), [*nodes, DEAD])
    assert (found.gpus, found.cpus, found.fitting) == (gpus, cpus, fitting)
    options = found.options()
    assert (options["num_gpus"], options["num_cpus"]) == (gpus, cpus)


@pytest.mark.parametrize(
    ("block", "nodes", "says"),
    [
        ({"device": "cuda"}, [SMALL], r"a node with 1 GPU\(s\).* at most 0"),
        ({"args": {"tensor-parallel-size": 8}}, [LARGE], r"a node with 8 GPU\(s\).* at most 4"),
        ({}, [HEAD], r"a node with 1 CPU\(s\)"),
        ({}, [DEAD], "its 0 living nodes"),
    ],
)
def test_none_is_large_enough(block: dict[str, Any], nodes: list[dict[str, Any]], says: str) -> None:
    """What no living node can hold is a user's error that says what there is."""
    with pytest.raises(ServingError, match=says):
        Placement.of(config(**block), nodes)


def test_elsewhere_if_there_is_one() -> None:
    """After a loss another node is preferred, and the same one taken where there is no other."""
    other = "ab" * 28
    two = Placement.of(config(), [SMALL, {**SMALL, "NodeID": other}])
    assert two.options(avoid="small")["scheduling_strategy"].node_id == other
    assert Placement.of(config(), [SMALL]).options(avoid="small")["scheduling_strategy"] == "DEFAULT"


async def test_a_model_that_spans_machines(tmp_path: Path) -> None:
    """It is started here: vLLM itself spreads it over the cluster."""
    started: list[str] = []

    class Here:
        @asynccontextmanager
        async def serve(
            self, config: ServeConfig, *, model_id: str, log: Path, report: Callable[[str], None]
        ) -> AsyncIterator[Served]:
            started.append(model_id)
            yield cast(Served, None)

    spanning = config(args={"distributed-executor-backend": "ray", "tensor-parallel-size": 16})
    servers = ClusterServers(tmp_path, Here())
    async with servers.serve(spanning, model_id="m", log=tmp_path / "log", report=print):
        assert started == ["m"]
