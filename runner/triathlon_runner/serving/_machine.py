"""Which models are served at the same time: on GPUs those that fit, on a CPU one after another."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, Self

from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._devices import Gpu, gpus
from triathlon_runner.serving._errors import ServingError

_MIB_PER_GIB = 1024


@dataclass(frozen=True, slots=True)
class GpuAllocation:
    """The GPUs that one model computes on; none where it computes on the CPU."""

    device: Literal["cpu", "cuda"]
    gpus: tuple[Gpu, ...] = ()
    share: float | None = None
    """Part of each GPU's memory that the model may take; the engine's own default where None."""

    @property
    def name(self) -> str:
        """Of the device, for the manifest."""
        if not self.gpus:
            return "cpu"
        return f"{len(self.gpus)} x {', '.join(sorted({gpu.name for gpu in self.gpus}))}"


class Machine:
    """The GPUs that one run's servers share: made by `await Machine.detect()`, passed to every `serve`.

    A CPU serves one model at a time: a second one would only slow the first.
    """

    def __init__(self, available: list[Gpu]) -> None:
        self._gpus = available
        self._free = {gpu.index: gpu.free for gpu in available}
        self._models = dict.fromkeys(self._free, 0)
        self._cpu_taken = False
        self._change = asyncio.Condition()
        self.starting = asyncio.Lock()
        """Held while a server starts: an engine measures free memory then, a second start would change it."""

    @classmethod
    async def detect(cls) -> Self:
        """The GPUs that nvidia-smi lists."""
        return cls(await gpus())

    @asynccontextmanager
    async def allocate(
        self, config: ServeConfig, report: Callable[[str], None]
    ) -> AsyncIterator[GpuAllocation]:
        """Reserves GPUs, or the CPU, for the block; waits until there is room for the model.

        Raises:
            ServingError: there will never be room here.
        """
        self._check(config)
        async with self._change:
            if not self._has_room(config):
                report("waiting for room: other models are being served")
                await self._change.wait_for(lambda: self._has_room(config))
            allocation = self._reserve(config)
        try:
            yield allocation
        finally:
            self._count(allocation, config, -1)
            async with self._change:
                self._change.notify_all()

    def _on_gpu(self, config: ServeConfig) -> bool:
        return config.device == "cuda" or (config.device == "auto" and bool(self._gpus))

    def _check(self, config: ServeConfig) -> None:
        if not self._on_gpu(config):
            return
        fitting = [gpu for gpu in self._gpus if gpu.free >= _need(config, gpu)]
        if len(fitting) < self._wanted(config):
            each = f" with {config.gpu_memory_gib:g} GiB free on each" if config.gpu_memory_gib else ""
            listed = ", ".join(f"{gpu.name}, {gpu.free / _MIB_PER_GIB:.0f} GiB free" for gpu in self._gpus)
            raise ServingError(
                f"expected {self._wanted(config)} GPU(s){each}, nvidia-smi lists {listed or 'none'}; lower "
                "tensor-parallel-size or gpu_memory_gib, or set device: cpu"
            )

    def _room_on(self, gpu: Gpu, config: ServeConfig) -> bool:
        if config.gpu_memory_gib is None:
            return not self._models[gpu.index]
        return self._free[gpu.index] >= _need(config, gpu)

    def _has_room(self, config: ServeConfig) -> bool:
        if not self._on_gpu(config):
            return not self._cpu_taken
        return sum(self._room_on(gpu, config) for gpu in self._gpus) >= self._wanted(config)

    def _wanted(self, config: ServeConfig) -> int:
        """GPUs of this machine that the model needs; all of them for a model that spans machines."""
        return max(1, len(self._gpus)) if config.spans_nodes else config.gpu_count

    def _reserve(self, config: ServeConfig) -> GpuAllocation:
        if not self._on_gpu(config):
            allocation = GpuAllocation("cpu")
        else:
            fitting = [gpu for gpu in self._gpus if self._room_on(gpu, config)]
            # The emptiest first, so that models spread; sorted for a stable order of CUDA_VISIBLE_DEVICES.
            emptiest = sorted(fitting, key=lambda gpu: -self._free[gpu.index])[: self._wanted(config)]
            chosen = tuple(sorted(emptiest, key=lambda gpu: gpu.index))
            gib = config.gpu_memory_gib
            share = gib and round(min(gib * _MIB_PER_GIB / gpu.total for gpu in chosen), 4)
            allocation = GpuAllocation("cuda", chosen, share)
        self._count(allocation, config, +1)
        return allocation

    def _count(self, allocation: GpuAllocation, config: ServeConfig, sign: int) -> None:
        if allocation.device == "cpu":
            self._cpu_taken = sign > 0
        for gpu in allocation.gpus:
            self._free[gpu.index] -= sign * _need(config, gpu)
            self._models[gpu.index] += sign


def _need(config: ServeConfig, gpu: Gpu) -> int:
    """MiB of this GPU that the model needs: what the row says, or all that is free."""
    return gpu.free if config.gpu_memory_gib is None else round(config.gpu_memory_gib * _MIB_PER_GIB)
