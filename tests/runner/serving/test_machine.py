"""Which GPUs there are, and which models are served beside each other."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.serving import Gpu, GpuAllocation, Machine, ServeConfig, ServingError, gpus

_GIB = 1024


def _gpus(count: int, free: int = 80) -> list[Gpu]:
    return [Gpu(index, f"GPU-{index}", "H100", 80 * _GIB, free * _GIB) for index in range(count)]


def _config(**block: Any) -> ServeConfig:
    return ServeConfig.model_validate({"engine": "vllm", "weights": {"path": "/m"}, **block})


class _Guest:
    """A model that keeps its allocation until it is told to leave."""

    def __init__(self, machine: Machine, **block: Any) -> None:
        self.allocation: GpuAllocation | None = None
        self.reported: list[str] = []
        self._leave = asyncio.Event()
        self._task = asyncio.create_task(self._sit(machine, _config(**block)))

    async def _sit(self, machine: Machine, config: ServeConfig) -> None:
        async with machine.allocate(config, self.reported.append) as self.allocation:
            await self._leave.wait()

    async def leave(self) -> None:
        self._leave.set()
        await self._task


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_one_after_another_on_a_cpu() -> None:
    """Without a GPU models take turns, and who waits says so."""
    machine = Machine([])
    first, second = _Guest(machine), _Guest(machine)
    await _settle()
    assert first.allocation == GpuAllocation("cpu")
    assert second.allocation is None
    assert second.reported == ["waiting for room: other models are being served"]
    await first.leave()
    await _settle()
    assert second.allocation == GpuAllocation("cpu")
    await second.leave()


async def test_beside_each_other_where_they_fit() -> None:
    """Models that say how much memory suffices share a GPU until it is full."""
    machine = Machine(_gpus(1))
    guests = [_Guest(machine, gpu_memory_gib=30) for _ in range(3)]
    await _settle()
    assert [guest.allocation is not None for guest in guests] == [True, True, False]
    assert guests[0].allocation is not None
    assert guests[0].allocation.share == 0.375
    await guests[0].leave()
    await _settle()
    assert guests[2].allocation is not None
    for guest in guests[1:]:
        await guest.leave()


async def test_a_gpu_to_itself() -> None:
    """A model that says nothing gets GPUs to itself; the others use what is left."""
    machine = Machine(_gpus(2))
    whole, small, second = _Guest(machine), _Guest(machine, gpu_memory_gib=10), _Guest(machine)
    await _settle()
    assert whole.allocation is not None
    assert [gpu.index for gpu in whole.allocation.gpus] == [0]
    assert small.allocation is not None
    assert [gpu.index for gpu in small.allocation.gpus] == [1]
    assert second.allocation is None
    await whole.leave()
    await _settle()
    assert second.allocation is not None
    assert [gpu.index for gpu in second.allocation.gpus] == [0]
    await small.leave()
    await second.leave()


@pytest.mark.parametrize(
    ("available", "args", "taken"),
    [
        (4, {"tensor-parallel-size": 2, "pipeline_parallel_size": 2}, 4),
        (2, {"tensor-parallel-size": 8, "distributed-executor-backend": "ray"}, 2),
    ],
    ids=["one machine", "several"],
)
async def test_parallel_sizes_ask_for_several(available: int, args: dict[str, Any], taken: int) -> None:
    """Tensor times pipeline parallel size is the number of GPUs; over Ray this machine gives all it has."""
    guest = _Guest(Machine(_gpus(available)), args=args)
    await _settle()
    assert guest.allocation is not None
    assert guest.allocation.name == f"{taken} x H100"
    await guest.leave()


@pytest.mark.parametrize(
    ("count", "block"),
    [
        (0, {"device": "cuda"}),
        (1, {"args": {"tensor-parallel-size": 2}}),
        (1, {"gpu_memory_gib": 90}),
    ],
)
async def test_what_never_fits_is_refused(count: int, block: dict[str, Any]) -> None:
    """A model for which there will never be room is refused at once, saying what there is."""
    with pytest.raises(ServingError, match=r"expected \d GPU.*nvidia-smi lists"):
        async with Machine(_gpus(count)).allocate(_config(**block), lambda _: None):
            pass


async def test_a_cpu_row_leaves_the_gpu_free() -> None:
    """`device: cpu` takes no GPU."""
    machine = Machine(_gpus(1))
    on_cpu, on_gpu = _Guest(machine, device="cpu"), _Guest(machine)
    await _settle()
    assert [guest.allocation and guest.allocation.device for guest in (on_cpu, on_gpu)] == ["cpu", "cuda"]
    await on_cpu.leave()
    await on_gpu.leave()


async def test_an_allocation_is_given_back_on_errors() -> None:
    """A model that fails leaves its room to the next."""
    machine = Machine([])
    with pytest.raises(RuntimeError):
        async with machine.allocate(_config(), lambda _: None):
            raise RuntimeError
    async with asyncio.timeout(5), machine.allocate(_config(), lambda _: None) as allocation:
        assert allocation.device == "cpu"


_TWO = r"0, GPU-a, NVIDIA H100, 81559, 80000\n1, GPU-b, NVIDIA H100, 81559, 100\n"
_FIRST = Gpu(0, "GPU-a", "NVIDIA H100", 81559, 80000)
_SECOND = Gpu(1, "GPU-b", "NVIDIA H100", 81559, 100)


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that a test writes; alone on PATH, so that a real one is not found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path / "nvidia-smi"


def _says(smi: Path, text: str, status: int = 0) -> None:
    smi.write_text(f"#!/bin/sh\nprintf '{text}'\nexit {status}\n")
    smi.chmod(0o755)


@pytest.mark.parametrize(
    ("visible", "found"),
    [
        (None, [_FIRST, _SECOND]),
        ("1", [_SECOND]),
        ("GPU-a", [_FIRST]),
        ("1,0", [_FIRST, _SECOND]),
        ("", []),
        ("-1", []),
    ],
)
async def test_only_those_left_to_us(
    smi: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, found: list[Gpu]
) -> None:
    """Every GPU is read that CUDA_VISIBLE_DEVICES of the runner leaves, by index or by UUID."""
    _says(smi, _TWO)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert await gpus() == found


@pytest.mark.parametrize("says", [None, ("", 0), ("No devices were found", 6), (r"[N/A]\n", 0)])
async def test_no_gpu(smi: Path, says: tuple[str, int] | None) -> None:
    """A driver without a device is the same as no driver."""
    if says is not None:
        _says(smi, *says)
    assert await gpus() == []
