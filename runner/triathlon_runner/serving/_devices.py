"""The GPUs of this machine."""

import asyncio
import os
from dataclasses import dataclass

_QUERY = (
    "nvidia-smi",
    "--query-gpu=index,uuid,name,memory.total,memory.free",
    "--format=csv,noheader,nounits",
)


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
    if process.returncode:
        return []
    return _visible([gpu for line in output.decode(errors="replace").splitlines() if (gpu := _parsed(line))])


def _parsed(line: str) -> Gpu | None:
    try:
        index, uuid, name, total, free = (field.strip() for field in line.split(","))
        return Gpu(int(index), uuid, name, int(total), int(free))
    except ValueError:
        return None


def _visible(listed: list[Gpu]) -> list[Gpu]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return listed
    names = {name.strip() for name in visible.split(",")}
    return [gpu for gpu in listed if {str(gpu.index), gpu.uuid} & names]
