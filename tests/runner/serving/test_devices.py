"""Finding GPUs by nvidia-smi."""

from pathlib import Path

import pytest

from triathlon_runner.serving import Gpu, gpus

_TWO = r"0, GPU-a, NVIDIA H100, 81559, 80000\n1, GPU-b, NVIDIA H100, 81559, 100\n"
_FIRST = Gpu(0, "GPU-a", "NVIDIA H100", 81559, 80000)
_SECOND = Gpu(1, "GPU-b", "NVIDIA H100", 81559, 100)


@pytest.fixture(autouse=True)
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that a test writes; alone on PATH, so that a real one is not found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path / "nvidia-smi"


def _says(smi: Path, text: str, status: int = 0) -> None:
    smi.write_text(f"#!/bin/sh\nprintf '{text}'\nexit {status}\n")
    smi.chmod(0o755)


async def test_two_gpus(smi: Path) -> None:
    """Name and memory of every GPU are read."""
    _says(smi, _TWO)
    assert await gpus() == [_FIRST, _SECOND]


@pytest.mark.parametrize(
    ("visible", "found"),
    [("1", [_SECOND]), ("GPU-a", [_FIRST]), ("1,0", [_FIRST, _SECOND]), ("", []), ("-1", [])],
)
async def test_only_those_left_to_us(
    smi: Path, monkeypatch: pytest.MonkeyPatch, visible: str, found: list[Gpu]
) -> None:
    """CUDA_VISIBLE_DEVICES of the runner is honoured, by index and by UUID."""
    _says(smi, _TWO)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert await gpus() == found


@pytest.mark.parametrize(("text", "status"), [("", 0), ("No devices were found", 6), (r"[N/A]\n", 0)])
async def test_no_gpu(smi: Path, text: str, status: int) -> None:
    """A driver without a device is the same as no driver."""
    _says(smi, text, status)
    assert await gpus() == []


async def test_no_driver() -> None:
    """Without nvidia-smi there is no GPU."""
    assert await gpus() == []
