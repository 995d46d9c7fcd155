"""What this machine can compute on."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from triathlon_runner.serving._errors import ServingError

_QUERY = ("nvidia-smi", "--query-gpu=index,name,memory.total,memory.free", "--format=csv,noheader,nounits")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One CUDA device; memory in MiB."""

    index: int
    name: str
    total: int
    free: int


async def gpus() -> list[Gpu]:
    """The GPUs that nvidia-smi lists; none where it is missing or fails."""
    try:
        process = await asyncio.create_subprocess_exec(
            *_QUERY, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
    except OSError:
        return []
    output, _ = await process.communicate()
    if process.returncode:
        return []
    return [gpu for line in output.decode(errors="replace").splitlines() if (gpu := _parsed(line))]


def _parsed(line: str) -> Gpu | None:
    fields = [field.strip() for field in line.split(",")]
    try:
        index, name, total, free = fields
        return Gpu(int(index), name, int(total), int(free))
    except ValueError:
        return None


async def chosen(wanted: Literal["auto", "cpu", "cuda"]) -> tuple[Literal["cpu", "cuda"], str]:
    """The device to serve on, and its name for the manifest.

    Raises:
        ServingError: CUDA was asked for and nvidia-smi lists no GPU.
    """
    found = [] if wanted == "cpu" else await gpus()
    if found:
        names = sorted({gpu.name for gpu in found})
        return "cuda", ", ".join(names)
    if wanted == "cuda":
        raise ServingError(
            "expected a GPU (device: cuda), but nvidia-smi lists none; set device: cpu, or leave it out"
        )
    return "cpu", "cpu"
