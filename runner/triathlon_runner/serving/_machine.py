"""Which models are served at the same time: on GPUs those that fit, on a CPU one after another."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._errors import ServingError

_QUERY = (
    "nvidia-smi",
    "--query-gpu=index,uuid,name,memory.total,memory.free",
    "--format=csv,noheader,nounits",
)
_MIB_PER_GIB = 1024


@dataclass(frozen=True, slots=True)
class Gpu:
    """One CUDA device; memory in MiB."""

    index: int
    uuid: str
    name: str
    total: int
    free: int


async def gpus() -> list[Gpu]:
    """The GPUs that nvidia-smi lists and CUDA_VISIBLE_DEVICES leaves us; none where nvidia-smi fails."""
    try:
        process = await asyncio.create_subprocess_exec(
            *_QUERY, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except OSError:
        return []
    output, _ = await process.communicate()
    lines = [] if process.returncode else output.decode(errors="replace").splitlines()
    listed = [gpu for line in lines if (gpu := _parsed(line))]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return listed
    names = {name.strip() for name in visible.split(",")}
    return [gpu for gpu in listed if {str(gpu.index), gpu.uuid} & names]


def _parsed(line: str) -> Gpu | None:
    try:
        index, uuid, name, total, free = (field.strip() for field in line.split(","))
        return Gpu(int(index), uuid, name, int(total), int(free))
    except ValueError:
        return None


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


_Served = Sequence[tuple[GpuAllocation, ServeConfig]]


class Machine:
    """The GPUs that one run's servers share.

    A CPU serves one model at a time: a second one would only slow the first.
    """

    def __init__(self, available: list[Gpu] | None = None) -> None:
        """`available`: left out, nvidia-smi is asked when the first model is to be served."""
        self._available = available
        self._served: list[tuple[GpuAllocation, ServeConfig]] = []
        self._change = asyncio.Condition()
        self.starting = asyncio.Lock()
        """Held while a server starts: an engine measures free memory then, a second start would change it."""

    @asynccontextmanager
    async def allocate(
        self, config: ServeConfig, report: Callable[[str], None]
    ) -> AsyncIterator[GpuAllocation]:
        """Reserves GPUs, or the CPU, for the block; waits until there is room for the model.

        Raises:
            ServingError: there will never be room here.
        """
        async with self._change:
            if self._available is None:
                self._available = await gpus()
            listed = self._available
            if _choose(config, listed, []) is None:
                raise _never_fits(config, listed)
            allocation = _choose(config, listed, self._served)
            if allocation is None:
                report("waiting for room: other models are being served")
                allocation = await self._change.wait_for(lambda: _choose(config, listed, self._served))
            assert allocation is not None
            self._served.append((allocation, config))
        try:
            yield allocation
        finally:
            self._served.remove((allocation, config))
            async with self._change:
                self._change.notify_all()


def _choose(config: ServeConfig, listed: Sequence[Gpu], served: _Served) -> GpuAllocation | None:
    """Returns where the model can be served beside those that are; None where there is no room."""
    if config.device == "cpu" or (config.device == "auto" and not listed):
        return None if any(other.device == "cpu" for other, _ in served) else GpuAllocation("cpu")
    free = {
        gpu: gpu.free - sum(_need(config, gpu) for other, config in served if gpu in other.gpus)
        for gpu in listed
    }
    fitting = [gpu for gpu in listed if free[gpu] >= _need(config, gpu)]
    if len(fitting) < _wanted(config, listed):
        return None
    # The emptiest first, so that models spread; sorted for a stable order of CUDA_VISIBLE_DEVICES.
    emptiest = sorted(fitting, key=lambda gpu: -free[gpu])[: _wanted(config, listed)]
    chosen = tuple(sorted(emptiest, key=lambda gpu: gpu.index))
    gib = config.gpu_memory_gib
    share = gib and round(min(gib * _MIB_PER_GIB / gpu.total for gpu in chosen), 4)
    return GpuAllocation("cuda", chosen, share)


def _wanted(config: ServeConfig, listed: Sequence[Gpu]) -> int:
    """GPUs of this machine that the model needs; all of them for a model that spans machines."""
    return max(1, len(listed)) if config.spans_nodes else config.gpu_count


def _need(config: ServeConfig, gpu: Gpu) -> int:
    """MiB of this GPU that the model needs: what the row says, or all that is free."""
    return gpu.free if config.gpu_memory_gib is None else round(config.gpu_memory_gib * _MIB_PER_GIB)


def _never_fits(config: ServeConfig, listed: Sequence[Gpu]) -> ServingError:
    each = f" with {config.gpu_memory_gib:g} GiB free on each" if config.gpu_memory_gib else ""
    names = ", ".join(f"{gpu.name}, {gpu.free / _MIB_PER_GIB:.0f} GiB free" for gpu in listed)
    return ServingError(
        f"expected {_wanted(config, listed)} GPU(s){each}, nvidia-smi lists {names or 'none'}; lower"
        " tensor-parallel-size or gpu_memory_gib, or set device: cpu"
    )
