"""What a server takes of a node."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from triathlon_runner.serving import ServeConfig, ServingError


@dataclass(frozen=True, slots=True)
class Placement:
    """A request to Ray: whole GPUs, or, as a second model would only slow the first, a node's CPUs."""

    gpus: int
    cpus: int
    fitting: tuple[str, ...]
    """Ids of the nodes that are large enough."""

    def __str__(self) -> str:
        return f"{self.gpus} GPUs" if self.gpus else f"a node's {self.cpus} CPUs"

    @classmethod
    def of(cls, config: ServeConfig, nodes: Sequence[dict[str, Any]]) -> Self:
        """What the row asks for, of nodes as `ray.nodes()` lists them.

        Raises:
            ServingError: no node is large enough.
        """
        alive = [node for node in nodes if node["Alive"]]
        most_gpus = max((_count(node, "GPU") for node in alive), default=0)
        if config.device == "cuda" or (config.device == "auto" and most_gpus):
            wanted, kind = config.gpu_count, "GPU"
        else:
            wanted, kind = max((_count(node, "CPU") for node in alive), default=0), "CPU"
        fitting = tuple(node["NodeID"] for node in alive if _count(node, kind) >= wanted > 0)
        if not fitting:
            raise ServingError(
                f"expected a node with {max(wanted, 1)} {kind}(s) in the Ray cluster, its {len(alive)} living"
                f" nodes have at most {max((_count(node, kind) for node in alive), default=0)}; lower"
                " tensor-parallel-size, set device, or let vLLM span nodes (docs/running.md)"
            )
        return cls(wanted if kind == "GPU" else 0, wanted if kind == "CPU" else 0, fitting)

    def options(self, avoid: str = "") -> dict[str, Any]:
        """Of the actor; `avoid` is the id of a node that something was lost on."""
        others = [node for node in self.fitting if node != avoid]
        prefer = NodeAffinitySchedulingStrategy(others[0], soft=True) if avoid and others else "DEFAULT"
        return {
            "num_cpus": self.cpus,
            "num_gpus": self.gpus,
            "max_concurrency": 100,
            "scheduling_strategy": prefer,
        }


def _count(node: dict[str, Any], kind: str) -> int:
    return int(node["Resources"].get(kind, 0))
