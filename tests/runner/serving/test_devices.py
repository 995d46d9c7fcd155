"""Finding GPUs by nvidia-smi."""

from pathlib import Path

import pytest

from triathlon_runner.serving import Gpu, ServingError, gpus
from triathlon_runner.serving._devices import chosen


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that a test writes; alone on PATH, so that a real one is not found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "nvidia-smi"


def _says(smi: Path, text: str, status: int = 0) -> None:
    smi.write_text(f"#!/bin/sh\nprintf '{text}'\nexit {status}\n")
    smi.chmod(0o755)


async def test_two_gpus(smi: Path) -> None:
    """Name and memory of every GPU are read, and CUDA is the automatic choice."""
    _says(smi, r"0, NVIDIA H100, 81559, 80000\n1, NVIDIA H100, 81559, 100\n")
    assert await gpus() == [Gpu(0, "NVIDIA H100", 81559, 80000), Gpu(1, "NVIDIA H100", 81559, 100)]
    assert await chosen("auto") == ("cuda", "NVIDIA H100")
    assert await chosen("cpu") == ("cpu", "cpu")


@pytest.mark.parametrize(("text", "status"), [("", 0), ("No devices were found", 6), (r"[N/A]\n", 0)])
async def test_no_gpu(smi: Path, text: str, status: int) -> None:
    """A driver without a device is the same as no driver."""
    _says(smi, text, status)
    assert await chosen("auto") == ("cpu", "cpu")


async def test_cuda_wanted_and_missing(smi: Path) -> None:
    """Asking for CUDA without a GPU is a user's error."""
    with pytest.raises(ServingError, match="device: cuda"):
        await chosen("cuda")
