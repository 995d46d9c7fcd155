"""Weights of a Hugging Face hub, downloaded by vLLM itself from a stand-in on loopback."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from triathlon_runner.serving import ServeConfig, serve

pytestmark = [pytest.mark.slow, pytest.mark.real_model]

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
    """The stand-in and its address."""
    hub = _Hub(real_weights)
    runner = web.AppRunner(hub.app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield hub, f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_hub_weights_are_pinned(
    hub: tuple[_Hub, str], real_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    async with serve(
        config, model_id="m", cache=real_cache, log=tmp_path / "m.log", report=lambda _: None
    ) as server:
        assert server.weights == f"huggingface org/tiny@{_COMMIT}"
    assert stand_in.asked == {_COMMIT}
