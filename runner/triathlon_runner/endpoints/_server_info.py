"""Asks a server which model it serves: weights, quantisation and context length.

Replies do not show how servers differ: Ollama's `/v1` ignores `num_ctx` and cuts longer prompts at the
context that it was started with (4,096 tokens by default); hosts serve one name in several quantisations.
"""

import asyncio
import json
from typing import Any

from triathlon_runner.endpoints._api import Retryable
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints.provider import Client, ServerInfo
from triathlon_runner.json_text import parse_json

_FIRST_SECONDS, _ALL_SECONDS = 10.0, 300.0
"""Time limits for the first reply and for all replies; Ollama loads the model meanwhile. Where a limit is
reached nothing is known of the server, and the suite's questions are asked all the same."""


async def ask_server(client: Client, config: ApiConfig) -> ServerInfo:
    """Asks a server of OpenAI's protocol, by its kind; never raises where it does not answer."""
    try:
        async with asyncio.timeout(_FIRST_SECONDS):
            if "openrouter.ai" in config.base_url:
                return await _open_router(client, config)
            listed = await _listed(client, config)
        async with asyncio.timeout(_ALL_SECONDS):
            return ServerInfo() if listed is None else await _ask_local(client, config, listed)
    except (TimeoutError, Retryable):
        return ServerInfo()


async def _ask_local(client: Client, config: ApiConfig, listed: dict[str, Any]) -> ServerInfo:
    """Reads vLLM's list of models; recognises llama.cpp and Ollama by addresses that only they have."""
    if "max_model_len" in listed:
        advice = "start vllm with a larger --max-model-len"
        return ServerInfo("vllm", context=_whole(listed["max_model_len"]), how_to_raise=advice)
    return await _llama_cpp(client, config, listed) or await _ollama(client, config) or ServerInfo()


async def _listed(client: Client, config: ApiConfig) -> dict[str, Any] | None:
    """Returns the model's entry in `GET /models`; empty if only others are listed, None without a list."""
    models = (await _fetch(client, "/models")).get("data")
    if not isinstance(models, list):
        return None
    return next((model for model in _objects(models) if model.get("id") == config.model), {})


async def _llama_cpp(client: Client, config: ApiConfig, listed: dict[str, Any]) -> ServerInfo | None:
    """`GET /props`: the context of one slot, and the file that is loaded, whose name has the quantisation."""
    props = await _fetch(client, f"{_root(config)}/props")
    if "default_generation_settings" not in props:
        return None
    context = _whole(_object(props["default_generation_settings"]).get("n_ctx"))
    trained = _whole(_object(listed.get("meta")).get("n_ctx_train"))
    return ServerInfo(
        "llama.cpp",
        version=str(props.get("build_info") or ""),
        digest=str(props.get("model_path") or "").replace("\\", "/").rpartition("/")[2],
        context=context,
        how_to_raise="start llama-server with a larger --ctx-size (it is shared by its --parallel slots)",
        is_models_limit=context is not None and trained is not None and context >= trained,
    )


async def _ollama(client: Client, config: ApiConfig) -> ServerInfo | None:
    """`GET /api/version`, `POST /api/show` and `GET /api/ps`, which knows the context of what is loaded."""
    version = await _fetch(client, f"{_root(config)}/api/version")
    if "version" not in version:
        return None
    shown = await _fetch(client, f"{_root(config)}/api/show", {"model": config.model})
    loaded = await _ollama_loaded(client, config)
    return ServerInfo(
        "ollama",
        version=str(version["version"]),
        digest=str(loaded.get("digest") or ""),
        quantization=str(_object(shown.get("details")).get("quantization_level") or ""),
        context=_whole(loaded.get("context_length")),
        how_to_raise=(
            "start Ollama with OLLAMA_CONTEXT_LENGTH=… (its /v1 ignores num_ctx in requests), or make a model"
            " with `PARAMETER num_ctx …` in its Modelfile"
        ),
    )


async def _ollama_loaded(client: Client, config: ApiConfig) -> dict[str, Any]:
    """The model's entry among those that are loaded; a request without a prompt loads it."""
    names = {config.model, f"{config.model}:latest"}

    async def find() -> dict[str, Any]:
        models = _objects((await _fetch(client, f"{_root(config)}/api/ps")).get("models"))
        return next((model for model in models if {model.get("name"), model.get("model")} & names), {})

    if not (loaded := await find()):
        await _fetch(client, f"{_root(config)}/api/generate", {"model": config.model})
        loaded = await find()
    return loaded


async def _open_router(client: Client, config: ApiConfig) -> ServerInfo:
    """`GET /models/AUTHOR/MODEL/endpoints`: the hosts that may answer, with their quantisations."""
    data = _object((await _fetch(client, f"/models/{config.model}/endpoints")).get("data"))
    hosts = [host for host in _objects(data.get("endpoints")) if _may_answer(host, config)]
    names = {
        f"{host.get('provider_name')} ({host.get('quantization') or 'unknown quantization'})"
        for host in hosts
    }
    quantizations = {str(host.get("quantization") or "unknown") for host in hosts}
    is_known = len(quantizations) == 1 and "unknown" not in quantizations
    return ServerInfo(
        hosts=" or ".join(sorted(names)),
        quantization=quantizations.pop() if is_known else "",
        context=min(filter(None, (_whole(host.get("context_length")) for host in hosts)), default=None),
        how_to_raise="name a host with a longer context: `body: {provider: {only: [...]}}` in the api block",
    )


def _may_answer(host: dict[str, Any], config: ApiConfig) -> bool:
    """Whether the row's `body: {provider: {only: …, quantizations: …}}` lets OpenRouter choose this host."""
    wanted = _object(config.body.get("provider"))
    names = {str(host.get("provider_name", "")).lower(), str(host.get("tag", "")).lower()}
    names |= {name.partition("/")[0] for name in names}
    only, quantizations = wanted.get("only"), wanted.get("quantizations")
    return (not only or bool(names & {str(name).lower() for name in only})) and (
        not quantizations or host.get("quantization") in quantizations
    )


async def _fetch(client: Client, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Returns the object that a server replies with; empty where it replies with none."""
    reply = await (client.get(path) if body is None else client.post(path, json.dumps(body).encode()))
    try:
        return _object(parse_json(reply.body)) if reply.status == 200 else {}
    except ValueError:
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _root(config: ApiConfig) -> str:
    """The server's address without the path of its OpenAI protocol."""
    return config.base_url.removesuffix("/v1")


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
