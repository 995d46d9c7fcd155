"""Who is behind an address, as servers of each kind tell it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from support.json_server import JsonServer, json_server
from support.raw_server import listening
from triathlon_runner.endpoints import (
    ApiConfig,
    Chat,
    Message,
    ModelUnavailableError,
    OpenAIModel,
    Sampling,
    open_model,
)

LONG = Chat((Message("user", "x" * 14_000),))
"""About 4,000 tokens."""
CHAT = {
    "model": "m",
    "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}
LOADED = {"name": "m:latest", "model": "m:latest", "digest": "9f13ba12", "context_length": 4096}
OLLAMA: dict[str, Any] = {
    "GET /v1/models": {"data": [{"id": "m:latest", "object": "model", "owned_by": "library"}]},
    "GET /api/version": {"version": "0.12.3"},
    "POST /api/show": {"details": {"family": "qwen2", "quantization_level": "Q4_K_M"}},
    "GET /api/ps": {"models": [LOADED]},
    "POST /v1/chat/completions": CHAT,
}
LLAMA_CPP: dict[str, Any] = {
    "GET /v1/models": {"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}]},
    "GET /props": {
        "default_generation_settings": {"n_ctx": 2048},
        "model_path": "/models/m-7b-Q5_K_M.gguf",
        "build_info": "b6000-abc",
    },
    "POST /v1/chat/completions": CHAT,
}


def vllm(length: int) -> dict[str, Any]:
    models = {"data": [{"id": "m", "owned_by": "vllm", "root": "org/m", "max_model_len": length}]}
    return {"GET /v1/models": models, "POST /v1/chat/completions": CHAT}


def open_router(**hosts: tuple[str, int]) -> dict[str, Any]:
    endpoints = [
        {"provider_name": name, "quantization": quantization, "context_length": context}
        for name, (quantization, context) in hosts.items()
    ]
    return {"GET /openrouter.ai/api/v1/models/m/endpoints": {"data": {"id": "m", "endpoints": endpoints}}}


@asynccontextmanager
async def asking(replies: dict[str, Any]) -> AsyncIterator[tuple[OpenAIModel, JsonServer]]:
    """A model whose server was asked who it is."""
    async with json_server(replies) as server:
        config = ApiConfig(base_url=f"{server.root}/v1", model="m")
        async with open_model("m", "instruct", config) as model:
            await model.identify_server()
            yield model, server


async def identified(replies: dict[str, Any], path: str = "/v1", **row: Any) -> tuple[str, str, JsonServer]:
    async with json_server(replies) as server:
        config = ApiConfig(base_url=server.root + path, model="m", **row)
        async with open_model("m", "instruct", config) as model:
            info = await model.identify_server()
            return info.name, info.identity, server


async def test_ollama() -> None:
    """Ollama tells digest, quantisation and the context that is loaded, which no request of /v1 can set."""
    name, identity, _ = await identified(OLLAMA)
    assert name == "ollama 0.12.3"
    assert identity == "server ollama, digest 9f13ba12, quantization Q4_K_M, context 4096"


async def test_ollama_loads_the_model_first() -> None:
    """The context is known of a loaded model only: it is loaded before it is asked for."""
    replies = {**OLLAMA, "GET /api/ps": [{"models": []}, {"models": [LOADED]}], "POST /api/generate": {}}
    _, identity, server = await identified(replies)
    assert identity.endswith("context 4096")
    assert "POST /api/generate" in server.asked


async def test_llama_cpp() -> None:
    """llama.cpp tells the file that is loaded, whose name has the quantisation, and a slot's context."""
    name, identity, _ = await identified(LLAMA_CPP)
    assert (name, identity) == (
        "llama.cpp b6000-abc",
        "server llama.cpp, digest m-7b-Q5_K_M.gguf, context 2048",
    )


async def test_vllm() -> None:
    """VLLM tells the longest context in its list of models, and is asked nothing else."""
    _, identity, server = await identified(vllm(8192))
    assert identity == "server vllm, context 8192"
    assert server.asked == ["GET /v1/models"]


@pytest.mark.parametrize(
    ("row", "hosts", "identity"),
    [
        ({}, "Deep (fp8) or Fast (bf16)", ""),
        ({"only": ["deep"]}, "Deep (fp8)", "quantization fp8"),
        ({"quantizations": ["bf16"]}, "Fast (bf16)", "quantization bf16"),
    ],
    ids=str,
)
async def test_open_router(row: dict[str, Any], hosts: str, identity: str) -> None:
    """OpenRouter tells the hosts that the row allows; a quantisation that all of them share is identity."""
    replies = open_router(Deep=("fp8", 32768), Fast=("bf16", 8192))
    body = {"provider": row} if row else {}
    assert (await identified(replies, "/openrouter.ai/api/v1", body=body))[:2] == (hosts, identity)


async def test_a_host_that_joins_open_router() -> None:
    """One more host with the same quantisation, and with a shorter context, makes no other model."""
    one = open_router(Deep=("fp8", 32768))
    two = open_router(Deep=("fp8", 32768), Late=("fp8", 16384))
    path = "/openrouter.ai/api/v1"
    assert (await identified(one, path))[1] == (await identified(two, path))[1] == "quantization fp8"


async def test_open_router_without_quantisations() -> None:
    """Where one of the hosts does not tell its quantisation, none is part of the identity."""
    path = "/openrouter.ai/api/v1"
    assert (await identified(open_router(Deep=("fp8", 32768), Mute=("", 32768)), path))[1] == ""


@pytest.mark.parametrize(
    "replies",
    [
        {},
        {"GET /v1/models": {"data": [{"id": "other"}]}},
        {"GET /v1/models": {"data": "none"}},
        {"GET /v1/models": []},
        {"GET /v1/models": (500, {})},
        {**OLLAMA, "GET /api/version": (404, {})},
    ],
    ids=range(6),
)
async def test_servers_that_tell_nothing(replies: dict[str, Any]) -> None:
    """A server that cannot be asked, or says something else, leaves everything unknown."""
    assert (await identified(replies))[:2] == ("", "")


async def test_a_server_that_is_not_there() -> None:
    """Nobody listens: nothing is known, and the questions themselves will say why."""

    async def close(reader: object, writer: object) -> None: ...

    async with listening(close) as port:
        pass
    async with open_model(
        "m", "instruct", ApiConfig(base_url=f"http://127.0.0.1:{port}/v1", model="m")
    ) as model:
        assert (await model.identify_server()).identity == ""


@pytest.mark.parametrize(
    ("replies", "advice"),
    [(OLLAMA, "OLLAMA_CONTEXT_LENGTH"), (LLAMA_CPP, "--ctx-size"), (vllm(4096), "--max-model-len")],
    ids=["ollama", "llama.cpp", "vllm"],
)
async def test_a_context_that_is_too_short(replies: dict[str, Any], advice: str) -> None:
    """A question that would not fit is refused with what to set, and is not sent: the server might cut it."""
    async with asking(replies) as (model, server):
        with pytest.raises(ModelUnavailableError, match="at least 5024 tokens") as caught:
            await model.ask(LONG, Sampling(1024))
        assert advice in str(caught.value)
        assert "POST /v1/chat/completions" not in server.asked
        await model.ask(Chat((Message("user", "short"),)), Sampling(1024))


async def test_the_models_own_limit() -> None:
    """A model that was trained with no longer context is asked: that the prompt is too long is its result."""
    listed = {"data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx_train": 2048}}]}
    async with asking({**LLAMA_CPP, "GET /v1/models": listed}) as (model, _):
        assert (await model.ask(LONG, Sampling(1024))).reply.text == "yes"
