"""What is asked over HTTP: whether our own server answers, and which commit a Hugging Face revision is.

Imported where one of them is asked: the HTTP client takes long to import.
"""

import math
import os
import re
import ssl
from pathlib import Path

import httpx2

from triathlon_runner.serving._config import HuggingFaceWeights
from triathlon_runner.serving._errors import ServingError

_CHECK_SECONDS = 10.0
"""For one check of a server that is starting; another follows."""
_HUB_SECONDS = 30.0
_METRICS_SECONDS = 60.0
_TOKENS = re.compile(r"^vllm:(?:prompt|generation)_tokens_total(?:\{.*\})? (\S+)$", re.MULTILINE)
"""In vLLM's metrics: the tokens that it has read, and those that it has written."""
_COMMIT = re.compile(r"[0-9a-f]{40}")


def _loopback_client() -> httpx2.AsyncClient:
    """A client for plain HTTP on loopback: no proxies, no certificates (slow to read)."""
    return httpx2.AsyncClient(trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


async def reachable(base_url: str) -> bool:
    """Whether /health says that the server has loaded its model."""
    try:
        async with _loopback_client() as client:
            health = await client.get(base_url.removesuffix("/v1") + "/health", timeout=_CHECK_SECONDS)
    except httpx2.HTTPError:
        return False
    return health.status_code == httpx2.codes.OK


async def fault(base_url: str, model: str, *, seconds: float) -> str | None:
    """What is wrong with the server; None where it is healthy and completes a text in the model's name.

    Each request may take `seconds`: a server that works on many answers is slow to answer `/health`, and a
    restart would lose all of them. So nothing is wrong either where it counts more tokens than before.
    """
    root = base_url.removesuffix("/v1")
    async with _loopback_client() as client:
        before = await _count_tokens(client, root)
        try:
            health = await client.get(f"{root}/health", timeout=seconds)
            if health.status_code != httpx2.codes.OK:
                return f"/health answers {health.status_code}"
            question = {"model": model, "prompt": "1", "max_tokens": 1, "temperature": 0}
            answer = await client.post(f"{base_url}/completions", json=question, timeout=seconds)
        except httpx2.TimeoutException:
            is_working = await _count_tokens(client, root) > before
            return None if is_working else f"no answer to a probe within {seconds:g} s, and no new token"
        except httpx2.HTTPError as error:
            return f"the connection of a probe failed: {str(error) or type(error).__name__}"
    if answer.status_code != httpx2.codes.OK:
        return f"a probe question is answered with {answer.status_code}: {answer.text[:300]!r}"
    try:
        body = answer.json()
        text, named = body["choices"][0]["text"], body["model"]
    except (ValueError, LookupError, TypeError):
        text, named = None, None
    if not isinstance(text, str):
        return f"a probe question is answered with {answer.text[:300]!r}, expected a completion"
    return None if named == model else f"the probe's answer is by {named!r}, expected {model!r}"


async def _count_tokens(client: httpx2.AsyncClient, root: str) -> float:
    """The tokens that the engine has read and written; nan (never more than before) if it does not say."""
    try:
        metrics = await client.get(f"{root}/metrics", timeout=_METRICS_SECONDS)
        return sum(map(float, _TOKENS.findall(metrics.text)))
    except (httpx2.HTTPError, ValueError):
        return math.nan


async def commit_of(weights: HuggingFaceWeights, env: dict[str, str]) -> str:
    """The commit that the revision names now; where the hub does not answer, the one downloaded last.

    Raises:
        ServingError: the hub knows no such repository or revision, or neither hub nor cache can tell.
    """
    if _COMMIT.fullmatch(weights.revision):
        return weights.revision
    settings = {**os.environ, **env}
    try:
        if settings.get("HF_HUB_OFFLINE") in {"1", "true"}:
            raise httpx2.ConnectError("HF_HUB_OFFLINE is set")
        return await _ask_hub(weights, settings)
    except httpx2.HTTPError as error:
        if downloaded := _downloaded_commit(weights, settings):
            return downloaded
        raise ServingError(
            f"expected a Hugging Face hub to say which commit of {weights.repo!r} is {weights.revision!r}, "
            f"got {type(error).__name__}: {error}; set `revision:` to a commit (40 hex digits) that is "
            "downloaded already, or `path:` to a folder"
        ) from error


async def _ask_hub(weights: HuggingFaceWeights, settings: dict[str, str]) -> str:
    endpoint = settings.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    headers = {"authorization": f"Bearer {token}"} if (token := settings.get("HF_TOKEN")) else {}
    url = f"{endpoint}/api/models/{weights.repo}/revision/{weights.revision}"
    async with httpx2.AsyncClient(timeout=_HUB_SECONDS, follow_redirects=True, headers=headers) as client:
        answer = await client.get(url)
    if answer.status_code in {401, 403, 404}:
        raise ServingError(
            f"the hub knows no revision {weights.revision!r} of {weights.repo!r}, or shows it only to "
            f"those who may see it ({answer.status_code}); check the name, accept its licence there, and "
            "set HF_TOKEN"
        )
    answer.raise_for_status()
    try:
        commit = str(answer.json()["sha"])
    except (ValueError, LookupError, TypeError):
        commit = ""
    if not _COMMIT.fullmatch(commit):
        raise ServingError(
            f"expected a commit of {weights.repo!r} from {answer.url.host!r}, got {answer.text[:200]!r}"
        )
    return commit


def _downloaded_commit(weights: HuggingFaceWeights, settings: dict[str, str]) -> str:
    """The commit of a revision that was downloaded before; empty where none was."""
    home = Path(settings.get("HF_HOME", "~/.cache/huggingface")).expanduser()
    hub = Path(settings.get("HF_HUB_CACHE", home / "hub")).expanduser()
    ref = hub / f"models--{weights.repo.replace('/', '--')}" / "refs" / weights.revision
    return ref.read_text().strip() if ref.is_file() else ""
