"""Room for models: beside each other on the GPUs where they fit, one after another else."""

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
class Seat:
    """Where one model computes."""

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
    """What one run's servers share: make one by `await Machine.look()` and hand it to every `serve`.

    A CPU seats one model at a time: a second one would only slow the first.
    """

    def __init__(self, found: list[Gpu]) -> None:
        self._gpus = found
        self._free = {gpu.index: gpu.free for gpu in found}
        self._guests = dict.fromkeys(self._free, 0)
        self._cpu_taken = False
        self._change = asyncio.Condition()
        self.starting = asyncio.Lock()
        """An engine measures free memory while it starts; another one's start beside it would spoil that."""

    @classmethod
    async def look(cls) -> Self:
        """Asks nvidia-smi what there is."""
        return cls(await gpus())

    @asynccontextmanager
    async def seat(self, config: ServeConfig, report: Callable[[str], None]) -> AsyncIterator[Seat]:
        """Waits until there is room for the model and keeps it for the block.

        Raises:
            ServingError: there will never be room here.
        """
        self._check(config)
        async with self._change:
            if not self._has_room(config):
                report("waiting for room: other models are being served")
                await self._change.wait_for(lambda: self._has_room(config))
            seat = self._taken(config)
        try:
            yield seat
        finally:
            self._count(seat, config, -1)
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
            return not self._guests[gpu.index]
        return self._free[gpu.index] >= _need(config, gpu)

    def _has_room(self, config: ServeConfig) -> bool:
        if not self._on_gpu(config):
            return not self._cpu_taken
        return sum(self._room_on(gpu, config) for gpu in self._gpus) >= self._wanted(config)

    def _wanted(self, config: ServeConfig) -> int:
        """How many of this machine's GPUs; all of them for a model that spans machines."""
        return max(1, len(self._gpus)) if config.spans_nodes else config.gpu_count

    def _taken(self, config: ServeConfig) -> Seat:
        if not self._on_gpu(config):
            seat = Seat("cpu")
        else:
            fitting = [gpu for gpu in self._gpus if self._room_on(gpu, config)]
            # The emptiest first, so that models spread; sorted for a stable order of CUDA_VISIBLE_DEVICES.
            emptiest = sorted(fitting, key=lambda gpu: -self._free[gpu.index])[: self._wanted(config)]
            chosen = tuple(sorted(emptiest, key=lambda gpu: gpu.index))
            gib = config.gpu_memory_gib
            share = gib and round(min(gib * _MIB_PER_GIB / gpu.total for gpu in chosen), 4)
            seat = Seat("cuda", chosen, share)
        self._count(seat, config, +1)
        return seat

    def _count(self, seat: Seat, config: ServeConfig, sign: int) -> None:
        if seat.device == "cpu":
            self._cpu_taken = sign > 0
        for gpu in seat.gpus:
            self._free[gpu.index] -= sign * _need(config, gpu)
            self._guests[gpu.index] += sign


def _need(config: ServeConfig, gpu: Gpu) -> int:
    """MiB that the model takes of this GPU: what the row says, or all that is free."""
    return gpu.free if config.gpu_memory_gib is None else round(config.gpu_memory_gib * _MIB_PER_GIB)
