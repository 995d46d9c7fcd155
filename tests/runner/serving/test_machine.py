"""Which GPUs there are, and which models are served beside each other."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.serving import Gpu, GpuAllocation, Machine, ServeConfig, ServingError, gpus


def _machine(count: int) -> Machine:
    return Machine([Gpu(index, f"GPU-{index}", "H100", 80 * 1024, 80 * 1024) for index in range(count)])


def _config(**block: Any) -> ServeConfig:
    return ServeConfig.model_validate({"engine": "vllm", "weights": {"path": "/m"}, **block})


class _Guest:
    """A model that keeps its allocation until it is told to leave."""

    def __init__(self, machine: Machine, block: dict[str, Any]) -> None:
        self.place = "waits"
        self._leave = asyncio.Event()
        self._task = asyncio.create_task(self._sit(machine, _config(**block)))

    async def _sit(self, machine: Machine, config: ServeConfig) -> None:
        async with machine.allocate(config, self._report) as allocation:
            indices = [gpu.index for gpu in allocation.gpus]
            self.place = f"{allocation.name} {indices} {allocation.share}"
            await self._leave.wait()

    def _report(self, line: str) -> None:
        assert line == "waiting for room: other models are being served"
        self.place = "says that it waits"

    async def leave(self) -> None:
        self._leave.set()
        await self._task


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


_CPU, _WAITS = "cpu [] None", "says that it waits"
_SHARED, _SMALL = "1 x H100 [0] 0.375", "1 x H100 [1] 0.125"
_FIRST, _SECOND = "1 x H100 [0] None", "1 x H100 [1] None"
_FOUR = {"tensor-parallel-size": 2, "pipeline_parallel_size": 2}
_RAY = {"tensor-parallel-size": 8, "distributed-executor-backend": "ray"}


@pytest.mark.parametrize(
    ("count", "blocks", "places", "last"),
    [
        (0, [{}, {}], [_CPU, _WAITS], _CPU),  # a CPU serves one model at a time
        (1, 3 * [{"gpu_memory_gib": 30}], [_SHARED, _SHARED, _WAITS], _SHARED),  # shared until it is full
        (
            2,
            [{}, {"gpu_memory_gib": 10}, {}],
            [_FIRST, _SMALL, _WAITS],
            _FIRST,
        ),  # alone by default
        (1, [{"device": "cpu"}, {}], [_CPU, _FIRST], _FIRST),  # takes no GPU
        (4, [{"args": _FOUR}], ["4 x H100 [0, 1, 2, 3] None"], None),  # tensor times pipeline
        (2, [{"args": _RAY}], ["2 x H100 [0, 1] None"], None),  # over Ray this machine gives all it has
    ],
    ids=["cpu", "shared", "whole", "cpu beside gpu", "parallel", "ray"],
)
async def test_who_is_served_beside_whom(
    count: int, blocks: list[dict[str, Any]], places: list[str], last: str | None
) -> None:
    """Models are served at the same time that fit; who waits says so, and gets the room of the first."""
    machine = _machine(count)
    guests = [_Guest(machine, block) for block in blocks]
    await _settle()
    assert [guest.place for guest in guests] == places
    await guests[0].leave()
    await _settle()
    assert last in (None, guests[-1].place)
    for guest in guests[1:]:
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
        async with _machine(count).allocate(_config(**block), lambda _: None):
            pass


async def test_an_allocation_is_given_back_on_errors() -> None:
    """A model that fails leaves its room to the next."""
    machine = Machine([])
    with pytest.raises(RuntimeError):
        async with machine.allocate(_config(), lambda _: None):
            raise RuntimeError
    async with asyncio.timeout(5), machine.allocate(_config(), lambda _: None) as allocation:
        assert allocation == GpuAllocation("cpu")


_TWO = r"0, GPU-a, NVIDIA H100, 81559, 80000\n1, GPU-b, NVIDIA H100, 81559, 100\n"
_A = Gpu(0, "GPU-a", "NVIDIA H100", 81559, 80000)
_B = Gpu(1, "GPU-b", "NVIDIA H100", 81559, 100)


@pytest.mark.parametrize(
    ("says", "status", "visible", "found"),
    [
        (_TWO, 0, None, [_A, _B]),
        (_TWO, 0, "1", [_B]),
        (_TWO, 0, "GPU-a", [_A]),
        (_TWO, 0, "1,0", [_A, _B]),
        (_TWO, 0, "", []),
        (_TWO, 0, "-1", []),
        (None, 0, None, []),
        ("", 0, None, []),
        ("No devices were found", 6, None, []),
        (r"[N/A]\n", 0, None, []),
    ],
)
async def test_which_gpus_are_ours(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    says: str | None,
    status: int,
    visible: str | None,
    found: list[Gpu],
) -> None:
    """Those that CUDA_VISIBLE_DEVICES leaves, by index or UUID; a driver without a device is as none."""
    monkeypatch.setenv("PATH", str(tmp_path))  # so that a real nvidia-smi is not found
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if says is not None:
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\nprintf '{says}'\nexit {status}\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert await gpus() == found
