"""A Hugging Face revision is pinned to its commit."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from triathlon_runner.serving import HuggingFaceWeights, ServingError
from triathlon_runner.serving._http import commit_of

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))


@pytest.fixture
async def hub() -> AsyncIterator[str]:
    """A loopback hub that knows org/open, shows org/gated to a token, and is broken for org/odd."""

    async def revision(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name == "gated" and request.headers.get("authorization") != "Bearer secret-token":
            return web.json_response({"error": "gated"}, status=401)
        if name in {"open", "gated"} and request.match_info["revision"] == "main":
            return web.json_response({"id": f"org/{name}", "sha": _COMMIT})
        return web.json_response({"sha": 3}) if name == "odd" else web.json_response({}, status=404)

    app = web.Application()
    app.router.add_get("/api/models/org/{name}/revision/{revision}", revision)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}"
    await runner.cleanup()


def _weights(name: str, revision: str = "main") -> HuggingFaceWeights:
    return HuggingFaceWeights(repo=f"org/{name}", revision=revision)


async def test_branch_becomes_its_commit(hub: str) -> None:
    """A branch is resolved by asking the hub."""
    assert await commit_of(_weights("open"), {"HF_ENDPOINT": hub}) == _COMMIT


async def test_commit_stays() -> None:
    """A commit needs no hub."""
    assert await commit_of(_weights("open", _COMMIT), {"HF_ENDPOINT": "http://127.0.0.1:9"}) == _COMMIT


async def test_token_opens_gated_weights(hub: str) -> None:
    """Gated weights are seen with a token; without one the error says what to set and shows no token."""
    assert await commit_of(_weights("gated"), {"HF_ENDPOINT": hub, "HF_TOKEN": "secret-token"}) == _COMMIT
    with pytest.raises(ServingError, match="HF_TOKEN") as caught:
        await commit_of(_weights("gated"), {"HF_ENDPOINT": hub, "HF_TOKEN": "wrong-token"})
    assert "wrong-token" not in str(caught.value)


@pytest.mark.parametrize(("name", "revision"), [("absent", "main"), ("open", "v2")])
async def test_unknown_repository_or_revision(hub: str, name: str, revision: str) -> None:
    """What the hub does not know is named."""
    with pytest.raises(ServingError, match=f"no revision '{revision}' of 'org/{name}'"):
        await commit_of(_weights(name, revision), {"HF_ENDPOINT": hub})


async def test_answer_without_a_commit(hub: str) -> None:
    """A hub that answers something else is no reason to guess."""
    with pytest.raises(ServingError, match="expected a commit of 'org/odd'"):
        await commit_of(_weights("odd"), {"HF_ENDPOINT": hub})


@pytest.mark.parametrize("env", [{"HF_ENDPOINT": "http://127.0.0.1:9"}, {"HF_HUB_OFFLINE": "1"}])
async def test_without_a_hub_the_cache_tells(tmp_path: Path, env: dict[str, str]) -> None:
    """Without a hub the commit downloaded last is taken; where there is none, the error says what to set."""
    with pytest.raises(ServingError, match="set `revision:` to a commit"):
        await commit_of(_weights("open"), env)
    ref = tmp_path / "hub" / "models--org--open" / "refs" / "main"
    ref.parent.mkdir(parents=True)
    ref.write_text(_COMMIT)
    assert await commit_of(_weights("open"), env) == _COMMIT
