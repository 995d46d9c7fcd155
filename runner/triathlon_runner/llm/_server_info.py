"""Asks a server which model it serves: weights, quantisation and context length.

Replies do not show how servers differ: Ollama's `/v1` ignores `num_ctx` and cuts longer prompts at the
context that it was started with (4,096 tokens by default); hosts serve one name in several quantisations.
"""

from dataclasses import replace
from typing import Any

from triathlon_runner.foreign_files import parse_json
from triathlon_runner.llm.provider import ApiConfig, Fetch, ServerInfo

_LOADING_SECONDS = 300.0
"""Longest wait while Ollama loads a model."""


async def ask_server(fetch: Fetch, config: ApiConfig) -> ServerInfo:
    """Asks a server of OpenAI's protocol, by its kind; one that answers without a list stays unknown."""
    if "openrouter.ai" in config.base_url:
        return await _open_router(fetch, config)
    models = (await _fetched(fetch, "/models")).get("data")
    if not isinstance(models, list):
        return ServerInfo()
    entries = {str(model.get("id")): model for model in _objects(models)}
    listed = entries.get(config.model, {})
    if "max_model_len" in listed:
        info = ServerInfo("vllm", context=_whole(listed["max_model_len"]))
    else:
        root = config.base_url.removesuffix("/v1")
        info = await _llama_cpp(fetch, root) or await _ollama(fetch, root, config.model) or ServerInfo()
    return replace(info, listed=tuple(entries))


async def _llama_cpp(fetch: Fetch, root: str) -> ServerInfo | None:
    """`GET /props`: the context of one slot, and the file that is loaded, whose name has the quantisation."""
    props = await _fetched(fetch, f"{root}/props")
    if "default_generation_settings" not in props:
        return None
    return ServerInfo(
        "llama.cpp",
        version=str(props.get("build_info") or ""),
        digest=str(props.get("model_path") or "").replace("\\", "/").rpartition("/")[2],
        context=_whole(_object(props["default_generation_settings"]).get("n_ctx")),
    )


async def _ollama(fetch: Fetch, root: str, model: str) -> ServerInfo | None:
    """`GET /api/version`, `POST /api/show` and `GET /api/ps`, which knows the context of what is loaded."""
    version = await _fetched(fetch, f"{root}/api/version")
    if "version" not in version:
        return None
    shown = await _fetched(fetch, f"{root}/api/show", {"model": model})

    async def loaded() -> dict[str, Any]:
        models = _objects((await _fetched(fetch, f"{root}/api/ps")).get("models"))
        names = {model, f"{model}:latest"}
        return next((each for each in models if {each.get("name"), each.get("model")} & names), {})

    if not (entry := await loaded()):
        # A request without a prompt loads the model.
        await _fetched(fetch, f"{root}/api/generate", {"model": model}, seconds=_LOADING_SECONDS)
        entry = await loaded()
    return ServerInfo(
        "ollama",
        version=str(version["version"]),
        digest=str(entry.get("digest") or ""),
        quantization=str(_object(shown.get("details")).get("quantization_level") or ""),
        context=_whole(entry.get("context_length")),
    )


async def _open_router(fetch: Fetch, config: ApiConfig) -> ServerInfo:
    """`GET /models/AUTHOR/MODEL/endpoints`: the hosts that may answer, with their quantisations."""
    data = _object((await _fetched(fetch, f"/models/{config.model}/endpoints")).get("data"))
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


async def _fetched(
    fetch: Fetch, path: str, body: dict[str, Any] | None = None, *, seconds: float = 10.0
) -> dict[str, Any]:
    """Returns the object that a server replies with; empty where it replies with none."""
    reply = await fetch(path, body, seconds=seconds)
    try:
        return _object(parse_json(reply.body)) if reply.status == 200 else {}
    except ValueError:
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
